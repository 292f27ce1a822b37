"""Synthetic countries: parameter and data files that look like a census, and hold nobody."""
