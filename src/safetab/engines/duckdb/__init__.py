"""DuckDB: the engine for one machine."""
