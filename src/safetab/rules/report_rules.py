"""What a report must satisfy (REPORT)."""

from __future__ import annotations

from safetab.errors import Rule

INSIDE_RELEASE = Rule(
    "REPORT-001",
    "nothing may be written into the folder of a release",
    "Name a place outside it. A release must not change after it was made.",
)
NOT_A_REPORT = Rule(
    "REPORT-002",
    "this file already exists, and SafeTab did not write it",
    "Name another file, or move this one away.",
)
NO_CHARTS = Rule(
    "REPORT-003",
    "pages with pictures need the packages altair and vl-convert-python",
    "Install them with `pip install 'safetab[report]'`.",
)
