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
