"""How large the population groups of a synthetic nation are, at every level of the release: what all findings ask.

In: a shape of `safetab synth` and a seed. Out: for each level a list of sizes, and how many groups have each size. The
promise: every region x iteration of the domain is counted once, including the empty ones, and nobody is drawn.

The people of a neighbourhood are those that `safetab synth` settles there. Two things are averages, rounded to whole
persons: which further codes people with several codes have (the average of those with the same rarest code), and who
of a neighbourhood lives in which place (in proportion to the persons of its blocks).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from benchmarks.published_pairs import memberships
from safetab.params.load import Parameters, load
from safetab.params.plan import PlannedLevel
from safetab.population.iterations import Iteration, Kind
from safetab.synth.communities import Communities
from safetab.synth.country_plan import CountryPlan, plan_country
from safetab.synth.geography import Land
from safetab.synth.neighbourhoods import Settlement
from safetab.synth.parameters import write_generated
from safetab.synth.shapes import Shape, StatePlan, plan_states

Integers = npt.NDArray[np.int64]
#: The run that is studied. Puerto Rico is a run of its own, with other records.
RUN = "us"
#: Kinds of groups, as they are counted apart: race and ethnicity groups of two stages, and total-only groups.
RACE, ETHNICITY, TOTAL_ONLY = "race", "ethnicity", "total only"
#: Larger groups are counted as this large: beyond every threshold and all noise.
LARGEST = 400_000


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """Different sizes, ascending, and how many groups have each."""

    size: Integers
    groups: Integers

    @classmethod
    def of(cls, sizes: Integers, groups: Integers | None = None) -> Histogram:
        """Equal sizes together."""
        different, place = np.unique(np.minimum(sizes, LARGEST), return_inverse=True)
        weights = np.ones(len(sizes)) if groups is None else groups
        return cls(different.astype(np.int64), np.bincount(place, weights, len(different)).astype(np.int64))

    @classmethod
    def joined(cls, parts: list[Histogram]) -> Histogram:
        """Several as one."""
        nothing = np.empty(0, dtype=np.int64)
        return cls.of(
            np.concatenate([nothing, *(part.size for part in parts)]),
            np.concatenate([nothing, *(part.groups for part in parts)]),
        )

    @property
    def total(self) -> int:
        return int(self.groups.sum())


@dataclass(frozen=True, slots=True, eq=False)
class NationSizes:
    """The sizes of all groups of a synthetic nation, by the name of the level and the kind of group."""

    seed: int
    of: Mapping[tuple[str, str], Histogram]

    def two_stage(self, level: str) -> Histogram:
        """The groups of a level that can get a table."""
        return Histogram.joined([self.of[level, kind] for kind in (RACE, ETHNICITY) if (level, kind) in self.of])

    def save(self, path: Path) -> None:
        """Keep them in a file."""
        path.parent.mkdir(parents=True, exist_ok=True)
        arrays = {f"{level}|{kind}": np.stack([part.size, part.groups]) for (level, kind), part in self.of.items()}
        np.savez_compressed(path, allow_pickle=False, **arrays)

    @classmethod
    def open(cls, path: Path, seed: int) -> NationSizes:
        """What `save` kept."""
        found: dict[tuple[str, str], Histogram] = {}
        with np.load(path) as arrays:
            for name in arrays.files:
                level, kind = name.split("|")
                found[level, kind] = Histogram(*arrays[name])
        return cls(seed, found)


@contextmanager
def planned_country(shape: Shape, seed: int, params: Path | None = None) -> Iterator[tuple[Parameters, CountryPlan]]:
    """A country of a shape with the group definitions of a folder, or with generated ones."""
    with TemporaryDirectory() as folder:
        if params is None:
            write_generated(Path(folder), shape.states, puerto_rico=True)
        parameters = load(params or Path(folder))
        yield parameters, plan_country(parameters, plan_states(shape, shape.states, puerto_rico=True), seed)


def nation_sizes(shape: Shape, seed: int, params: Path | None = None) -> NationSizes:
    """The sizes of a shape with the group definitions of a folder, or with generated ones."""
    with planned_country(shape, seed, params) as (parameters, plan):
        return sizes_of_plan(parameters, plan)


def sizes_of_plan(parameters: Parameters, plan: CountryPlan) -> NationSizes:
    """The sizes of a planned country, with the levels of a release in the Bureau's geography."""
    levels = [planned for run in parameters.plan.runs if run.name == RUN for planned in run.measured]
    shares = {planned.name: _shares(plan.communities, planned.iterations) for planned in levels}
    found: dict[tuple[str, str], list[Histogram]] = defaultdict(list)
    nation = np.zeros((1, len(plan.communities)))
    areas: dict[str, npt.NDArray[np.float64]] = {}
    for state in plan.states:
        if state.is_puerto_rico:
            continue
        regions = _StateRegions(plan, state)
        nation += plan.counts[state.code]
        for code, people in regions.areas():
            areas[code] = areas.get(code, 0.0) + people
        tables = {"STATE": csr_matrix(plan.counts[state.code][None, :].astype(np.float64))}
        tables |= {"COUNTY": regions.counties(), "TRACT": regions.tracts(), "PLACE": regions.places()}
        for planned in levels:
            if planned.level.geography.name in tables:
                _count(planned, tables[planned.level.geography.name] @ shares[planned.name], found)
    tables = {"USA": csr_matrix(nation), "AIANNH": csr_matrix(np.array(list(areas.values())))}
    for planned in levels:
        if planned.level.geography.name in tables and tables[planned.level.geography.name].shape[1]:
            _count(planned, tables[planned.level.geography.name] @ shares[planned.name], found)
    return NationSizes(plan.seed, {key: Histogram.joined(parts) for key, parts in found.items()})


def _shares(communities: Communities, iterations: tuple[Iteration, ...]) -> csr_matrix:
    """The share of each community (row) that is in each iteration (column)."""
    race = [number for number, it in enumerate(iterations) if it.kind is not Kind.ETHNICITY]
    table = memberships(communities, tuple(iterations[number] for number in race))
    strands = len(communities.pool.strands.persons)
    by_strand = csr_matrix(
        (table.share, (table.strand, np.array(race)[table.iteration])), shape=(strands, len(iterations))
    )
    codes = communities.ethnicity_codes
    pairs = [
        (codes.index(code), number)
        for number, it in enumerate(iterations)
        if it.kind is Kind.ETHNICITY
        for code in it.members
        if code in codes
    ]
    rows, columns = np.array(pairs).T if pairs else np.empty((2, 0), dtype=np.int64)
    by_code = csr_matrix((np.ones(len(pairs)), (rows, columns)), shape=(len(codes), len(iterations)))
    by_code.data[:] = 1.0
    return by_strand[communities.strand] + by_code[communities.ethnicity]


def _count(planned: PlannedLevel, persons: csr_matrix, found: dict[tuple[str, str], list[Histogram]]) -> None:
    """Add the groups of some regions (rows) to the histograms of a level."""
    iterations = planned.iterations
    kinds = np.array(
        [TOTAL_ONLY if planned.is_total_only(it) else ETHNICITY if it.kind is Kind.ETHNICITY else RACE
         for it in iterations]
    )  # fmt: skip
    entries = persons.tocoo()
    sizes = np.rint(entries.data).astype(np.int64)
    for kind in np.unique(kinds).tolist():
        mine = sizes[(kinds == kind)[entries.col]]
        mine = mine[mine > 0]
        empty = persons.shape[0] * int((kinds == kind).sum()) - len(mine)
        present = Histogram.of(mine)
        nobody = Histogram(np.zeros(1, dtype=np.int64), np.array([empty]))
        found[planned.name, kind].append(Histogram.joined([nobody, present]))


class _StateRegions:
    """The regions of one state: persons of each community, as sparse tables with a row for each region."""

    def __init__(self, plan: CountryPlan, state: StatePlan) -> None:
        self._land = plan.lay_out(state)
        parts = list(plan.settler(self._land).settle())
        counts, tract, area, place = zip(*_neighbourhoods(self._land, parts, len(plan.communities)), strict=True)
        self._people = _stacked(counts)
        self._tract, self._area = np.concatenate(tract), np.concatenate(area)
        self._place = _stacked(place)

    def tracts(self) -> csr_matrix:
        return _grouped(self._tract, len(self._land.county_of_tract)) @ self._people

    def counties(self) -> csr_matrix:
        return _grouped(self._land.county_of_tract, self._land.counties) @ self.tracts()

    def places(self) -> csr_matrix:
        return self._place.T.tocsr() @ self._people

    def areas(self) -> Iterator[tuple[str, npt.NDArray[np.float64]]]:
        """The AIANNH areas: their codes, as they may continue in another state, and their people."""
        for number in np.unique(self._area[self._area >= 0]).tolist():
            rows = np.flatnonzero(self._area == number)
            yield self._land.areas[number].code, np.asarray(self._people[rows].sum(axis=0)).ravel()


def _neighbourhoods(
    land: Land, settlements: list[Settlement], communities: int
) -> Iterator[tuple[csr_matrix, Integers, Integers, csr_matrix]]:
    """Of each settlement: people by community, the tract and area of each neighbourhood, and its shares in places."""
    place, nowhere = land.others[0].index.astype(np.int64), len(land.others[0].values) - 1
    for some in settlements:
        many = len(some.persons)
        row = np.searchsorted(np.cumsum(some.persons), np.cumsum(some.count) - some.count, side="right")
        people = csr_matrix((some.count.astype(np.float64), (row, some.community)), shape=(many, communities))
        first = np.zeros(many, dtype=np.int64)
        first[some.of_block[::-1]] = np.arange(len(some.of_block))[::-1]
        blocks = slice(some.low, some.high)
        inside = np.flatnonzero(place[blocks] != nowhere)
        share = land.persons[blocks][inside] / np.maximum(some.persons[some.of_block[inside]], 1)
        in_place = csr_matrix((share, (some.of_block[inside], place[blocks][inside])), shape=(many, nowhere))
        yield people, land.tract[blocks][first], land.area[blocks][first], in_place


def _grouped(region: Integers, regions: int) -> csr_matrix:
    """What adds up rows by region."""
    return csr_matrix((np.ones(len(region)), (region, np.arange(len(region)))), shape=(regions, len(region)))


def _stacked(parts: tuple[csr_matrix, ...]) -> csr_matrix:
    from scipy.sparse import vstack

    return vstack(parts, format="csr")
