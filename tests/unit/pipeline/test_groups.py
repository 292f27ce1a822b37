"""Membership of all levels of a run together is that of each of them."""

from __future__ import annotations

import numpy as np

from safetab.engines.protocol import Members
from safetab.params.load import load
from safetab.params.plan import plan_release
from safetab.pipeline.groups import MembersOfRun, domains_of_run
from safetab.pipeline.inputs import read_geographies
from safetab.population.membership import Pairs
from tests.worlds.merovia import MEROVIA


def listed(pairs: Pairs, members: Members) -> list[tuple[int, int]]:
    """Pairs of a row and a number of the catalogue, with repetitions."""
    return sorted(zip(pairs.row.tolist(), members.numbers[pairs.iteration].tolist(), strict=True))


def test_all_levels_together() -> None:
    parameters = load(MEROVIA / "params")
    run = plan_release(parameters.release, parameters.catalogue).runs[0]
    geography = read_geographies(parameters.release, MEROVIA / "data", [])[run.run.name]
    domains = domains_of_run(run, geography)
    codes = len(parameters.catalogue.codes)
    sets = np.random.default_rng(4).integers(-1, codes, (200, 2)).astype(np.int16)
    sets[:, 0] = np.abs(sets[:, 0])
    members = MembersOfRun(parameters.catalogue, sets, domains)
    of_levels = [members.of(domain) for domain in domains]
    whole = of_levels[0].whole
    assert whole is not None
    assert all(some.whole is whole for some in of_levels)
    assert len({id(some) for some in of_levels}) > 2
    assert set(whole.numbers.tolist()) == {number for some in of_levels for number in some.numbers.tolist()}
    for kind in ("race", "ethnicity"):
        together = listed(getattr(whole, kind), whole)
        assert len(set(together)) == len(together), "each pair once"
        for some in of_levels:
            numbers = set(some.numbers.tolist())
            assert listed(getattr(some, kind), some) == [pair for pair in together if pair[1] in numbers]
        assert together
