"""Judging what the user hands in: checks return findings; they never print and never end the program."""
