"""How far COUNT and ESTIMATE of groups with one true count are off, and whether their intervals hold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from safetab.estimates import Estimates

#: Standard errors that a figure may lie on the wrong side of a bound: of some 200 checks, one fails without a cause
#: with a chance below 1e-8.
WIDTH = 6.5


@dataclass(frozen=True)
class Errors:
    """Groups of one true count that were published at one stat level."""

    of_count: npt.NDArray[np.float64]
    of_estimate: npt.NDArray[np.float64]
    is_covered: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, counts: npt.NDArray[np.int64], found: Estimates, true_count: int) -> Errors:
        return cls(
            (counts - true_count).astype(np.float64),
            (found.estimate - true_count).astype(np.float64),
            (found.low_95 <= true_count) & (true_count <= found.high_95),
        )

    @property
    def ratio(self) -> float:
        """The root mean square error of COUNT over that of ESTIMATE."""
        return float(np.sqrt((self.of_count**2).mean() / (self.of_estimate**2).mean()))

    @property
    def may_be_better(self) -> bool:
        """Whether a ratio of 1 or more may be behind the one that was drawn."""
        parts = [errors**2 / (errors**2).mean() for errors in (self.of_count, self.of_estimate)]
        error = float((parts[0] - parts[1]).std() / 2 / np.sqrt(len(parts[0])))
        return self.ratio * (1 + WIDTH * error) >= 1

    @property
    def covers(self) -> bool:
        """Whether a chance of 95 % may be behind the share of intervals that hold."""
        return bool(self.is_covered.mean() >= 0.95 - WIDTH * np.sqrt(0.0475 / len(self.is_covered)))
