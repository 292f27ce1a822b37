"""Breakages: deliberate faults in a sound country, each made to be caught by one rule."""
