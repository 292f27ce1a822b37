"""The chances of noise as arrays, fast: for averages and for searches, where a certified answer is not needed.

In: a law, a number of cells. Out: the values of the noise of a sum that matter, and their chances. The promise: what is
left out has a chance below 1e-15, and the chances have an absolute error below 1e-12.
"""

from __future__ import annotations

from functools import lru_cache
from math import ceil, cosh, exp, log, sqrt

import numpy as np
import numpy.typing as npt

from safetab.noise.laws import DiscreteGaussian, Law, TwoSidedGeometric

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

#: Noise is followed until its chance is below exp(-40).
_FAR = 40.0
#: From this sigma^2 on a sum of discrete Gaussians is one, to a relative error below 1e-14 a cell.
_WIDE_ENOUGH = 4


@lru_cache(maxsize=256)
def noise_array(law: Law, n_cells: int) -> tuple[Integers, Floats]:
    """The values of the noise of a sum that matter, and their chances."""
    if isinstance(law, DiscreteGaussian) and (n_cells == 1 or law.sigma_squared >= _WIDE_ENOUGH):
        k = _values(int(sqrt(2 * _FAR * float(law.sigma_squared * n_cells))) + 1)
        chances = np.exp(-np.square(k, dtype=np.float64) / (2 * float(law.sigma_squared) * n_cells))
        return k, chances / chances.sum()
    k = _values(_reach(law, n_cells))
    one = np.exp(-float(law.rate) * np.abs(k).astype(np.float64) ** law.power)
    one /= one.sum()
    if n_cells == 1:
        return k, one
    # Around a circle that begins at 0, the sum is a power of the transform.
    circle = np.zeros(1 << len(k).bit_length())
    circle[k] = one
    powers = np.fft.irfft(np.fft.rfft(circle) ** n_cells, len(circle))
    return k, np.maximum(powers[k], 0.0)


def _values(far: int) -> Integers:
    return np.arange(-far, far + 1)


def _reach(law: Law, n_cells: int) -> int:
    """A distance that a sum is beyond with a chance below exp(-40) or so, by Chernoff's bound."""
    if isinstance(law, TwoSidedGeometric):
        epsilon = float(law.epsilon)
        u, q = min(epsilon / 2, 1.0), exp(-epsilon)
        # E exp(uX) = (1-q)^2 / (1 - 2 q cosh u + q^2)
        log_moment = 2 * log(1 - q) - log(1 - 2 * q * cosh(u) + q * q)
        return ceil((n_cells * log_moment + _FAR) / u)
    return ceil(sqrt(2 * _FAR * float(1 / (2 * law.rate)) * n_cells)) + 1
