"""Exact integer noise: laws, samplers and the source of random bits. It knows nothing of budgets, tables or engines.

`laws` says which noise, `ball_arithmetic` and `theta_series` compute its probabilities with certain bounds, `sampler`
draws it by `inversion_tables` or, where the law is wide, by `rejection`, `lazy_uniform` decides the rare draws that
64 bits leave open, and `source` is where all randomness comes from. EXACTNESS.md argues why the noise is exact.
"""

from safetab.noise.laws import DiscreteGaussian, Law, Mechanism, TwoSidedGeometric
from safetab.noise.sampler import add_noise, draw
from safetab.noise.source import BitSource, SeededSourceNotPrivate, SystemSource

__all__ = [
    "BitSource",
    "DiscreteGaussian",
    "Law",
    "Mechanism",
    "SeededSourceNotPrivate",
    "SystemSource",
    "TwoSidedGeometric",
    "add_noise",
    "draw",
]
