"""Mutants: mistakes planted in a copy of the privacy-critical code, to show that the tests catch every one."""
