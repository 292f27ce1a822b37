"""Exact integer noise: laws, a source of random bits, samplers. Knows nothing of budgets, tables or engines."""

from safetab.noise.laws import DiscreteGaussian, Law, Mechanism, TwoSidedGeometric

__all__ = ["DiscreteGaussian", "Law", "Mechanism", "TwoSidedGeometric"]
