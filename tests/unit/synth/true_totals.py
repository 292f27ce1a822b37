"""True totals of iterations, counted plainly from a pool of code sets or from records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from safetab.population.iterations import Iteration, Kind
from safetab.synth.communities import Communities


def race_totals(sets: Iterable[tuple[tuple[str, ...], int]], iterations: Iterable[Iteration]) -> Counter[str]:
    """The persons in each race iteration, by its code; each set comes with its number of persons."""
    of_code: dict[str, list[Iteration]] = {}
    for iteration in iterations:
        for code in iteration.members:
            of_code.setdefault(code, []).append(iteration)
    totals: Counter[str] = Counter()
    for codes, persons in sets:
        inside = Counter(iteration for code in codes for iteration in of_code.get(code, ()))
        for found, many in inside.items():
            if found.kind is Kind.COMBINATION or many == len(codes):
                totals[found.code] += persons
    return totals


def sets_of_pool(communities: Communities) -> Iterable[tuple[tuple[str, ...], int]]:
    """The code sets of the pool as codes, with their persons."""
    names = communities.race_codes
    for row, persons in zip(communities.pool.sets.tolist(), communities.pool.persons.tolist(), strict=True):
        yield tuple(names[code] for code in row if code < len(names)), persons


def origin_totals(communities: Communities, iterations: Iterable[Iteration]) -> Counter[str]:
    """The persons in each ethnicity iteration, by its code."""
    of_code: Counter[str] = Counter()
    pairs = zip(communities.ethnicity.tolist(), communities.persons.tolist(), strict=True)
    for ethnicity, persons in pairs:
        of_code[communities.ethnicity_codes[ethnicity]] += persons
    return Counter({it.code: sum(of_code[code] for code in it.members) for it in iterations})
