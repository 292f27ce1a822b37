"""Many population groups at once: a table of totals, and ranks.

In: population groups. Out: a table with an interval for each, or ranks that hold together. The promise: every interval
of a table holds by itself, all intervals of ranks hold at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pyarrow as pa

from safetab.errors import Finding, UsageError
from safetab.estimates.left_out import most_left_out
from safetab.estimates.linear import Weighted, chance_of_a_row, interval
from safetab.files import arrow
from safetab.reading import questions
from safetab.reading.answers import Rank
from safetab.reading.groups import Group
from safetab.reading.opened import Opened
from safetab.reading.sums import Region, choose
from safetab.rules import reading_rules

#: The share of the error that is set aside for a total that may be left out.
_OF_ONE_MISSING = 1 / 100


def many_totals(release: Opened, pairs: Sequence[tuple[Group, Region]]) -> pa.Table:
    """One row for each population group, in their order."""
    columns = {
        "REGION_TYPE": arrow.texts([region.type for _, region in pairs]),
        "REGION_ID": arrow.texts([region.id for _, region in pairs]),
        "ITERATION_CODE": arrow.texts([group.code for group, _ in pairs]),
    }
    values = np.zeros((3, len(pairs)), dtype=np.int64)
    published = np.zeros(len(pairs), dtype=np.int64)
    runs_of = np.array([_runs_of(release, region) for _, region in pairs], dtype=np.int64)
    for run in release.runs:
        place, found = release.rows_of_run(run).estimates(pa.table(columns))
        values[:, place] = found
        published[place] += 1
    for at in np.flatnonzero(runs_of > 1).tolist():
        # Each run has counted people of its own there.
        answer = questions.total(release, [pairs[at]])
        values[:, at] = answer.value, answer.low, answer.high
    for at in np.flatnonzero((published == 0) & (runs_of == 1)).tolist():
        values[2, at] = _most_of_missing(release, *pairs[at])
    for name, column in zip(("ESTIMATE", "LOW_95", "HIGH_95"), values, strict=True):
        columns[name] = arrow.numbers(column)
    columns["IS_PUBLISHED"] = arrow.numbers(published > 0)
    return pa.table(columns)


def _runs_of(release: Opened, region: Region) -> int:
    return sum(release.regions_of_run(run).index(*region) is not None for run in release.runs)


def _most_of_missing(release: Opened, group: Group, region: Region) -> int:
    """What a total that was left out may hold."""
    for run in release.runs:
        level = release.levels_of_group(run, group).get(region.type)
        if level is not None and release.regions_of_run(run).index(*region) is not None:
            known = level.suppressible(is_total_only=group.is_total_only)
            return 0 if known is None else most_left_out(Counter({known: 1}), 1, 0.05 * _OF_ONE_MISSING)
    seen = f"group {group.code} in {region}"
    raise UsageError(Finding(reading_rules.NOT_TABULATED, str(release.folder), seen=seen), "")


def ranks_of(release: Opened, groups: Sequence[Group], region: Region, confidence: float) -> list[Rank]:
    """Groups that differ for certain, all pairs together by Bonferroni's argument, are on different ranks."""
    questions.judge(release, [(group, region) for group in groups], confidence, "allow")
    groups = list({group.code: group for group in groups}.values())
    each = 1 - (1 - confidence) / max(len(groups) * (len(groups) - 1) // 2, 1)
    chosen = [choose(release, [(group, region)], None) for group in groups]
    chance = chance_of_a_row(each, 2)
    terms = [questions.weighted(release, one.times, one.missing, chance) for one in chosen]
    above = np.zeros((len(groups), len(groups)), dtype=np.bool_)
    for one, other in combinations(range(len(groups)), 2):
        found = interval([*terms[one], *(Weighted(-factor, pieces) for factor, pieces in terms[other])], each)
        above[one, other], above[other, one] = found.low > 0, found.high < 0
    estimates = [questions.total(release, [(group, region)], confidence=confidence) for group in groups]
    order = sorted(range(len(groups)), key=lambda at: -estimates[at].value)
    return [
        Rank(
            groups[at].code,
            groups[at].name,
            number,
            1 + int(above[:, at].sum()),
            len(groups) - int(above[at].sum()),
            estimates[at],
        )
        for number, at in enumerate(order, start=1)
    ]
