"""Faults put on purpose into a copy of the privacy-critical code, to see that the tests notice every one."""
