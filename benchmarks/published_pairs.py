"""The plan of a synthetic country next to what was published in 2020: groups of counties, and totals of states.

Nobody is drawn: the counts of communities in states and counties are those of the country that would be made. Codes of
the sets of several codes are taken at their average in the strand. The chance that a total of a county is published is
that of the release: its noise and its threshold for suppression. Prints the figures next to those of the 2020 release.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from benchmarks.tabulate import PRODUCTION
from safetab.accounting.events import Stage
from safetab.params.load import Parameters, load
from safetab.params.plan import PlannedLevel, plan_release
from safetab.pipeline.assemble import PostProcessing
from safetab.population.iterations import Iteration, Kind
from safetab.synth.communities import Communities
from safetab.synth.country import DEFAULT_SEED
from safetab.synth.country_plan import CountryPlan, plan_country
from safetab.synth.shapes import SHAPES, plan_states

Floats = npt.NDArray[np.float64]

#: Published in 2020 without the District of Columbia and Puerto Rico: the pairs of counties and race groups with a
#: total, and the quantiles of their number in a county.
PUBLISHED = {1: 40_273, 2: 282_952}
QUANTILES = (5, 25, 50, 75, 90, 99, 100)
PUBLISHED_QUANTILES = {1: (4, 6, 9, 18, 27, 39, 44), 2: (17, 34, 58, 110, 206, 423, 806)}
_WITHOUT = {"11", "72"}


@dataclass(frozen=True, slots=True)
class StateTotal:
    """A published total of a group in a state."""

    state: str
    iteration: str
    count: int
    source: str


_IRISH = "https://www.irishcentral.com/culture/most-irish-state-us-census"
_ARAB = "https://www.arabnarratives.org/post/a-first-for-mena-community-detailed-census-data"
_NOTES = "public GitHub research notes that quote table T01001 of the Detailed DHC-A"
STATE_TOTALS = (
    StateTotal("06", "1035", 803_899, _IRISH),
    StateTotal("06", "1146", 3_350_208, _IRISH),
    StateTotal("10", "1146", 163_116, _IRISH),
    StateTotal("25", "1146", 1_521_205, _IRISH),
    StateTotal("06", "1182", 740_219, _ARAB),
    StateTotal("26", "1182", 310_087, _ARAB),
    StateTotal("36", "1182", 304_739, _ARAB),
    StateTotal("11", "4015", 13_180, _NOTES),
    StateTotal("11", "3845", 19, _NOTES),
    StateTotal("11", "1207", 5, _NOTES),
)


@dataclass(frozen=True, slots=True, eq=False)
class Memberships:
    """How many persons of each strand are in each iteration, as a share: entries of a sparse table."""

    strand: npt.NDArray[np.int64]
    iteration: npt.NDArray[np.int64]
    share: Floats
    iterations: int

    def totals(self, by_strand: Floats) -> Floats:
        """Persons of each area (row) in each iteration (column), from those of each strand."""
        order = np.argsort(self.iteration, kind="stable")
        iteration, strand, share = self.iteration[order], self.strand[order], self.share[order]
        present, starts = np.unique(iteration, return_index=True)
        totals = np.zeros((len(by_strand), self.iterations))
        if len(present):
            totals[:, present] = np.add.reduceat(by_strand[:, strand] * share, starts, axis=1)
        return totals


def memberships(communities: Communities, iterations: tuple[Iteration, ...]) -> Memberships:
    """Which strands are in which race iterations."""
    pool, codes = communities.pool, communities.race_codes
    strands = pool.strands
    strand_of_set = np.repeat(np.arange(len(strands.persons)), np.diff(strands.first, append=len(pool.sets)))
    index = {code: number for number, code in enumerate(codes)}
    pairs = [(index[code], number) for number, it in enumerate(iterations) for code in it.members if code in index]
    code, iteration = np.array(sorted(pairs)).T
    starts = np.searchsorted(code, np.arange(len(codes) + 1))
    keys: list[npt.NDArray[np.int64]] = []
    for column in pool.sets.T.astype(np.int64):
        rows = np.flatnonzero(column < len(codes))
        many = (starts[1:] - starts[:-1])[column[rows]]
        place = np.arange(many.sum()) + np.repeat(starts[column[rows]] - (np.cumsum(many) - many), many)
        keys.append(np.repeat(rows, many) * len(iterations) + iteration[place])
    key, inside = np.unique(np.concatenate(keys), return_counts=True)
    rows, number = np.divmod(key, len(iterations))
    is_alone = np.array([it.kind is Kind.ALONE for it in iterations])
    # A person is in an alone group if all codes are, and in another if any is.
    kept = ~is_alone[number] | (inside == (pool.sets < len(codes)).sum(axis=1)[rows])
    cell = strand_of_set[rows[kept]] * len(iterations) + number[kept]
    persons = np.bincount(cell, weights=pool.persons[rows[kept]], minlength=0)
    found = np.flatnonzero(persons)
    strand, iteration = np.divmod(found, len(iterations))
    return Memberships(strand, iteration, persons[found] / strands.persons[strand], len(iterations))


def chances(parameters: Parameters, level: PlannedLevel) -> Floats:
    """The chance that a total is published, for true totals 0, 1, 2, ... until it is certain."""
    release = parameters.release
    policy = PostProcessing(release.zero_suppression_chance, release.allow_negative_counts, has_noise=True)
    event = level.noise.event(Stage.STAGE_2)
    threshold = policy.threshold(event)
    tails = [float(event.law.tail(threshold - true, 80)) for true in range(3 * threshold)]
    return np.array(tails)


def county_counts(plan: CountryPlan, *, without: set[str] = _WITHOUT) -> Iterator[npt.NDArray[np.int64]]:
    """Persons of each county (row) and community, state by state."""
    for state in plan.states:
        if state.code not in without:
            yield plan.settler(plan.lay_out(state)).counties()


def groups_per_county(parameters: Parameters, plan: CountryPlan) -> dict[int, Floats]:
    """The expected number of race groups of each level with a published total, for each county."""
    strand, many = plan.communities.strand, len(plan.communities.pool.strands.persons)
    states = [
        np.stack([np.bincount(strand, weights=county, minlength=many) for county in counties]).astype(np.float64)
        for counties in county_counts(plan)
    ]
    found: dict[int, Floats] = {}
    for level in plan_release(parameters.release, parameters.catalogue).runs[0].measured:
        if level.level.geography.name == "COUNTY":
            race = tuple(it for it in level.iterations if it.kind is not Kind.ETHNICITY)
            table, chance = memberships(plan.communities, race), chances(parameters, level)
            totals = [np.rint(table.totals(counties)).astype(np.int64).clip(0, len(chance) - 1) for counties in states]
            found[level.level.iteration_level] = np.concatenate([chance[total].sum(axis=1) for total in totals])
    return found


def planned_state_totals(parameters: Parameters, plan: CountryPlan) -> list[float]:
    """The persons that the plan has for each of the published totals of states."""
    communities = plan.communities
    by_code = {it.code: it for it in parameters.catalogue.iterations}
    race = tuple(it for it in by_code.values() if it.kind is not Kind.ETHNICITY)
    table, many = memberships(communities, race), len(communities.pool.strands.persons)
    found: list[float] = []
    for one in STATE_TOTALS:
        counts, iteration = plan.counts[one.state], by_code[one.iteration]
        if iteration.kind is Kind.ETHNICITY:
            is_inside = np.array([code in iteration.members for code in communities.ethnicity_codes])
            found.append(float(counts[is_inside[communities.ethnicity]].sum()))
        else:
            by_strand = np.bincount(communities.strand, weights=counts, minlength=many).astype(np.float64)
            found.append(float(table.totals(by_strand[None, :])[0, race.index(iteration)]))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=DEFAULT_SEED)
    options = parser.parse_args()
    shape = SHAPES["nation"]
    parameters = load(PRODUCTION)
    plan = plan_country(parameters, plan_states(shape, shape.states, puerto_rico=True), options.seed)
    for level, found in groups_per_county(parameters, plan).items():
        print(f"level {level}: {found.sum():,.0f} pairs, published {PUBLISHED[level]:,}")
        for percent, published in zip(QUANTILES, PUBLISHED_QUANTILES[level], strict=True):
            here = np.quantile(found, percent / 100)
            print(f"  {percent:3d} % of counties have at most {here:5.0f}, published {published}")
    names = {it.code: it.name for it in parameters.catalogue.iterations}
    for one, total in zip(STATE_TOTALS, planned_state_totals(parameters, plan), strict=True):
        print(f"state {one.state}, {names[one.iteration]}: {total:,.0f} persons, published {one.count:,}")


if __name__ == "__main__":
    main()
