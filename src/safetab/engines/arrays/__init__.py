"""Counting with arrays: what the DuckDB engine does with the people that it has read."""
