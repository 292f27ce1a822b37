"""Age bins: how finely a table is cut at each stat level (the paper's Age4, Age9 and Age23)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt


class StatLevel(IntEnum):
    """How much of a population group is published; the number of thresholds its stage 1 count has reached."""

    TOTAL = 0
    COARSE = 1
    MEDIUM = 2
    FINE = 3


@dataclass(frozen=True, slots=True)
class AgeBins:
    """Consecutive bins that cover the ages 0 to `oldest`; each starts at one of `starts`."""

    starts: tuple[int, ...]
    oldest: int
    #: False for the one bin of a release without ages, in which everybody counts as being of age 0.
    has_ages: bool = True

    def __post_init__(self) -> None:
        rising = all(low < high for low, high in zip(self.starts, self.starts[1:], strict=False))
        if not self.starts or self.starts[0] != 0 or not rising or self.starts[-1] > self.oldest:
            raise ValueError(f"age bins start at 0, rise, and start no later than age {self.oldest}: {self.starts}")

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def labels(self) -> tuple[tuple[int, int], ...]:
        """First and last age of each bin, both inclusive."""
        ends = (*(start - 1 for start in self.starts[1:]), self.oldest)
        return tuple(zip(self.starts, ends, strict=True))

    def bin_of_age(self) -> npt.NDArray[np.int16]:
        """The bin of each age 0 to `oldest`, as a look-up table."""
        ages = np.arange(self.oldest + 1)
        return (np.searchsorted(np.array(self.starts), ages, side="right") - 1).astype(np.int16)


#: The age bins of a release without ages: one bin of everybody.
NO_AGES = AgeBins((0,), 0, has_ages=False)
