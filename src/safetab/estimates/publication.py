"""What is known about a published total besides its noisy counts.

In: the laws of the noise, the thresholds, the stat level, what suppression drops. Out: a `Publication`, one for each
kind of row of a level. The promise: it says when a row is published exactly as the pipeline decides it: a group has
stat level k when its stage 1 count is at least k thresholds, and a total is dropped when it is at most a number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from safetab.arguments import whole_number
from safetab.noise.laws import Law


@dataclass(frozen=True, slots=True)
class Publication:
    """One kind of row: its sum of `n_cells` counts with noise `law`, and its stage 1 count, if it has one.

    The stage 1 count is at least `least_stage_1` and below `stage_1_below`; the sum is at least `least_sum`. None where
    there is no such bound.
    """

    law: Law
    n_cells: int = 1
    stage_1: Law | None = None
    least_stage_1: int | None = None
    stage_1_below: int | None = None
    least_sum: int | None = None

    def __post_init__(self) -> None:
        whole_number(self.n_cells, "n_cells", 1)
        bounds = self.least_stage_1, self.stage_1_below
        if self.stage_1 is None and bounds != (None, None):
            raise ValueError("there are bounds of a stage 1 count, but no stage 1: pass its law.")
        if None not in bounds and bounds[0] >= bounds[1]:  # type: ignore[operator]
            raise ValueError(
                f"no stage 1 count is from {bounds[0]} to below {bounds[1]}: no group has this stat level."
            )
        if self.least_sum is not None and (self.n_cells > 1 or self.least_stage_1 is not None):
            raise ValueError("only totals are suppressed: pass least_sum for one cell at stat level 0.")

    @classmethod
    def total_only(cls, law: Law, dropped_up_to: int | None = None) -> Publication:
        """A total measured in one stage; `dropped_up_to` is what suppression drops, None where it is off."""
        return cls(law, least_sum=None if dropped_up_to is None else dropped_up_to + 1)

    @classmethod
    def two_stage(
        cls,
        stage_1: Law,
        stage_2: Law,
        n_cells: int,
        thresholds: Sequence[int],
        stat_level: int,
        dropped_up_to: int | None = None,
    ) -> Publication:
        """A group at a stat level: its stage 1 count reached so many thresholds and no more.

        Suppression drops totals alone, so `dropped_up_to` counts at stat level 0 only.
        """
        drops = stat_level == 0 and dropped_up_to is not None
        return cls(
            stage_2,
            n_cells,
            stage_1,
            least_stage_1=thresholds[stat_level - 1] if stat_level > 0 else None,
            stage_1_below=thresholds[stat_level] if stat_level < len(thresholds) else None,
            least_sum=dropped_up_to + 1 if drops and dropped_up_to is not None else None,
        )
