"""The rules of the noise package: every error it raises names one of these."""

from __future__ import annotations

from safetab.errors import Rule

PARAMETER_IS_EXACT = Rule(
    "NOISE-001",
    "a noise parameter is an exact rational greater than 0",
    "Hand in a Fraction made from decimal text, for example Fraction('0.159'); a float is already rounded.",
)
CHANCE_IS_EXACT = Rule(
    "NOISE-002",
    "a probability is an exact rational strictly between 0 and 1",
    "Hand in a Fraction made from decimal text, for example Fraction('0.9999').",
)
BITS_ARE_POSITIVE = Rule(
    "NOISE-003",
    "the accuracy asked for is a whole number of bits, at least 1",
    "Ask for 53 bits or more; any number works.",
)
COMPARISON_ENDS = Rule(
    "NOISE-004",
    "a law's probability and the number it is compared with differ within a million bits",
    "The two are equal for all that can be seen; move the parameter or the chance by any amount.",
)
ENTROPY_IS_HEALTHY = Rule(
    "NOISE-005",
    "the operating system's entropy and the cipher stream pass their start-up checks",
    "Do not release anything from this machine; have its random device and its cryptography library examined.",
)
COUNTS_ARE_INTEGERS = Rule(
    "NOISE-006",
    "counts are an array of whole numbers of at most 64 bits",
    "Convert the counts to an integer array first; the noise itself is never rounded.",
)
SUM_FITS = Rule(
    "NOISE-007",
    "a noisy count fits into a signed 64-bit integer",
    "Counts of people stay below 2^62; look for a wrong unit or a wrong column, or a budget that is far too small.",
)
SHAPE_IS_WHOLE = Rule(
    "NOISE-008",
    "the number of draws is a whole number, or a tuple of them, none negative",
    "Hand in an int such as 10 or a shape such as (3, 4).",
)
SEED_IS_WHOLE = Rule(
    "NOISE-009",
    "the seed of a source that is not private is a whole number, 0 or more",
    "Hand in an int; for a real release use SystemSource, which nothing can seed.",
)
LAW_FITS = Rule(
    "NOISE-010",
    "a law is narrow enough that its noise fits into a signed 64-bit integer",
    "The budget of this count is far too small to be meant: below 10^-34 as rho or 10^-17 as epsilon.",
)
