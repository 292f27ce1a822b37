"""Spark: the engine for a cluster."""
