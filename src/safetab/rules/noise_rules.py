"""What noise and the source of randomness must satisfy (NOISE)."""

from __future__ import annotations

from safetab.errors import Rule

COMPARISON_ENDS = Rule(
    "NOISE-004",
    "a probability of the noise and the number it is compared with must differ within a million bits",
    "The two numbers look equal. Change the budget or the probability by a tiny amount.",
)
ENTROPY_IS_HEALTHY = Rule(
    "NOISE-005",
    "the randomness of the operating system and the cipher stream must pass their start-up checks",
    "Do not release anything from this machine. Have its random device and its cryptography library examined.",
)
SUM_FITS = Rule(
    "NOISE-007",
    "a noisy count must fit into a signed 64-bit integer",
    "Increase the budget. It is so small that its noise is larger than any number of people.",
)
LAW_FITS = Rule(
    "NOISE-010",
    "the noise of a budget, summed over the cells of a table, must fit into a signed 64-bit integer",
    "Increase the budget. Its noise is larger than any number of people.",
)
