"""Worlds that tests share: a module for each, named by what it holds. No test module imports another."""
