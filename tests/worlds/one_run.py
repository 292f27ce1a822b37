"""One run in the quick profile.

A second run of a world reads the same files in the same way, and takes as long again.
"""

from __future__ import annotations

from typing import Any

from tests import profile


def one_run_if_quick() -> dict[str, Any]:
    """What to change in a configuration that has two runs; those people of the second are then in no run."""
    return {} if profile.size(quick=0, long=1) else {"run_pr": False}
