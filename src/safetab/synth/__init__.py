"""Synthetic countries: parameter and data files that look like a census and contain no real person."""
