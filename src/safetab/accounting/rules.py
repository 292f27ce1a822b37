"""What a question about privacy loss or accuracy must satisfy (ACCOUNT)."""

from __future__ import annotations

from safetab.errors import Rule

TARGET_IS_WHOLE = Rule(
    "ACCOUNT-001",
    "a margin of error is a whole number, 0 or more",
    "Write it in persons: noise is integral, so margins between whole numbers mean nothing.",
)
CONFIDENCE_IS_EXACT = Rule(
    "ACCOUNT-002",
    "a confidence is an exact rational strictly between 0 and 1",
    'Write it as decimal text, for example "0.95".',
)
CELLS_ARE_WHOLE = Rule(
    "ACCOUNT-003",
    "the number of noisy cells that are added up is a whole number, 1 or more",
    "Hand in how many cells the total or marginal is the sum of, for example 46 for two sexes by 23 ages.",
)
DELTA_IS_A_CHANCE = Rule(
    "ACCOUNT-004",
    "delta is an exact number above 0 and at most 1",
    'Write it as decimal text, for example "1e-10"; for delta 0 read the pure epsilon, which only geometric noise has.',
)
EPSILON_IS_EXACT = Rule(
    "ACCOUNT-005",
    "epsilon is an exact number, 0 or more",
    'Write it as decimal text, for example "10".',
)
ONE_MECHANISM = Rule(
    "ACCOUNT-006",
    "all levels of a plan use the same noise mechanism",
    "Analyse levels with geometric noise apart from those with discrete Gaussian noise.",
)
BEYOND_THE_GRID = Rule(
    "ACCOUNT-007",
    "a privacy loss distribution is computed for budgets whose losses fit on a grid of floating point numbers",
    "Read the zCDP or RDP figure instead: it holds at any budget and any delta.",
)
