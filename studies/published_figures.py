"""What was published in 2020, beside what the synthetic nation has: how far the study can be trusted.

In: the Bureau's group definitions. Out: rows of figures. The promise: published figures are those that the package and
`benchmarks.published_pairs` carry, and the synthetic ones are expected numbers of the same release.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.published_pairs import PUBLISHED, PUBLISHED_QUANTILES, QUANTILES, groups_per_county
from safetab.params.load import load
from safetab.planning import level_outlook, national_sizes
from safetab.synth.country import DEFAULT_SEED
from safetab.synth.published_sizes import published_sizes_of
from safetab.synth.shapes import SHAPES
from studies.finding import whole
from studies.plans import USA_2, expected, plan_of_2020
from studies.synthetic_nation import RUN, NationSizes, planned_country

#: A figure: its name, as published, with the Bureau's group definitions, and with the generated ones.
Row = tuple[str, str, str, str]


def beside_published(params: Path, with_bureau: NationSizes, generated: NationSizes) -> tuple[Row, ...]:
    """The published figures, and those of the nations with the Bureau's and with generated group definitions."""
    published = _published(params)
    bureau, ours = _figures(params, with_bureau), _figures(None, generated)
    return tuple((name, published[name], bureau[name], ours[name]) for name in bureau)


def _published(params: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for level, number in PUBLISHED.items():
        found[_pairs(level)] = whole(number)
        found[_per_county(level)] = " ".join(map(str, PUBLISHED_QUANTILES[level]))
    parameters = load(params)
    sizes = national_sizes(parameters, published_sizes_of(parameters.catalogue), "us-2020")
    planned = next(one for run in parameters.plan.runs if run.name == RUN for one in run.measured if one.name == USA_2)
    known = sizes.of(RUN, USA_2)
    if known is None:
        raise ValueError("the parameters have no detailed groups of the nation")
    # Total-only groups are counted at stat level 0 too.
    outlook = level_outlook(parameters, RUN, planned, known).total
    found[_NATION] = " ".join(map(whole, (outlook.stat_levels[0] - outlook.total_only, *outlook.stat_levels[1:])))
    return found


def _figures(params: Path | None, nation: NationSizes) -> dict[str, str]:
    with planned_country(SHAPES["nation"], DEFAULT_SEED, params) as (parameters, plan):
        per_county = groups_per_county(parameters, plan)
    found: dict[str, str] = {}
    for level, groups in per_county.items():
        found[_pairs(level)] = whole(float(groups.sum()))
        found[_per_county(level)] = " ".join(whole(float(np.quantile(groups, q / 100))) for q in QUANTILES)
    at = expected(plan_of_2020().levels[USA_2], nation.two_stage(USA_2)).stat_levels
    found[_NATION] = " ".join(map(whole, at))
    return found


_NATION = "detailed groups of the nation at stat levels 0, 1, 2, 3"


def _pairs(level: int) -> str:
    return f"county x level {level} race group pairs with a total"


def _per_county(level: int) -> str:
    return f"level {level} groups per county: {', '.join(map(str, QUANTILES))} %"
