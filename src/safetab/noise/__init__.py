"""Exact integer noise: laws, a source of random bits, samplers. Knows nothing of budgets, tables or engines."""

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
