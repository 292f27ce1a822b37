"""What a plan will give, before any record is read: chances of detail, expected numbers, margins, budgets, comparisons.

Pure functions over parameters and public sizes; no page, no printing, no randomness, and nothing here can reach a
record.

- `detail`: the chance of each stat level, and of being published, by true size.
- `margins`: 95 % margins of sums and of estimates, and how they move with the stage 1 fraction.
- `widths`: how wide intervals are on average, by true size, near thresholds too.
- `by_size`: these three in one table.
- `sizes`: public tables of expected sizes; `expected`: who gets what if these are the sizes.
- `budgets`: the least budget for a margin of the estimate, the largest budgets for an (epsilon, delta).
- `best_guess`: what a budget means to one person: the best possible guess.
- `comparison`: several plans side by side.
- `shown`: numbers as text for people.
- `exact_tails`, `noise_arrays`: chances of noise, certified, and fast for averages and searches.
"""

from safetab.planning.best_guess import Guess, best_guesses
from safetab.planning.budgets import Scaling, budget_for_total_moe, largest_scaling
from safetab.planning.by_size import AtSize, by_size, sizes_of_interest
from safetab.planning.comparison import Difference, LevelFigures, PlanFigures, differences, figures_of_plan, level_names
from safetab.planning.detail import Chances, DetailRule, chances_of, detail_rule, size_with_detail
from safetab.planning.expected import ExpectedNumbers, GroupOutlook, LevelOutlook, level_outlook, outlook
from safetab.planning.margins import (
    FRACTIONS,
    AtFraction,
    TotalMargins,
    margins_by_fraction,
    moe_95_of_estimate,
    total_margins,
)
from safetab.planning.sizes import LevelSizes, Sizes, national_sizes, published_sizes, read_sizes
from safetab.planning.widths import count_half_width, estimate_half_widths

__all__ = [
    "FRACTIONS",
    "AtFraction",
    "AtSize",
    "Chances",
    "DetailRule",
    "Difference",
    "ExpectedNumbers",
    "GroupOutlook",
    "Guess",
    "LevelFigures",
    "LevelOutlook",
    "LevelSizes",
    "PlanFigures",
    "Scaling",
    "Sizes",
    "TotalMargins",
    "best_guesses",
    "budget_for_total_moe",
    "by_size",
    "chances_of",
    "count_half_width",
    "detail_rule",
    "differences",
    "estimate_half_widths",
    "figures_of_plan",
    "largest_scaling",
    "level_names",
    "level_outlook",
    "margins_by_fraction",
    "moe_95_of_estimate",
    "national_sizes",
    "outlook",
    "published_sizes",
    "read_sizes",
    "size_with_detail",
    "sizes_of_interest",
    "total_margins",
]
