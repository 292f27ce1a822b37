"""Deliberate faults: ways to break a sound country so that exactly one rule should catch it."""
