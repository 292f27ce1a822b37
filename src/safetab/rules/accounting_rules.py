"""What a question about privacy loss must satisfy (ACCOUNT)."""

from __future__ import annotations

from safetab.errors import Rule

DELTA_IS_A_CHANCE = Rule(
    "ACCOUNT-004",
    "delta must be greater than 0 and at most 1",
    "Write it as a decimal, for example 1e-10. For delta 0, read the pure epsilon; only geometric noise has one.",
)
EPSILON_IS_NOT_NEGATIVE = Rule(
    "ACCOUNT-005",
    "epsilon must be 0 or more",
    "Write it as a decimal, for example 10.",
)
NO_DP_ACCOUNTING = Rule(
    "ACCOUNT-008",
    "a cross-check needs the package dp-accounting",
    "Install it with `pip install 'safetab[crosscheck]'`, or leave out --cross-check.",
)
NO_FACTOR = Rule(
    "ACCOUNT-009",
    "no factor of the budgets is the largest that keeps the release within this epsilon and delta",
    "Choose an epsilon above 0 and a delta below 1, for a release that measures something.",
)
