"""Privacy loss distributions: the tightest account of a release, with every rounding bounded.

The privacy loss of an outcome is the logarithm of how much likelier it is for one of two neighbours than for the other.
`losses` has the loss of one count on a grid, `tilted` adds up independent losses without losing the small
probabilities, and `composed` does that for all counts that one person can change. docs/decisions/0009 says why this is
not left to a package.
"""
