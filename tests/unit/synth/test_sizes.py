"""Groups have their published sizes, alone and in combination, to the last person of the plan and of the records."""

from __future__ import annotations

import subprocess
import sys
from bisect import bisect_right
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from safetab.errors import InputError
from safetab.params.load import Parameters, load
from safetab.population.iterations import Iteration, IterationCatalogue, Kind
from safetab.synth.communities import Communities, communities_of
from safetab.synth.country import Country, make_country
from safetab.synth.country_plan import plan_country
from safetab.synth.published_sizes import (
    PUBLISHED_PERSONS,
    US_2020,
    own_sizes,
    published_sizes,
    published_sizes_of,
    read_sizes,
)
from safetab.synth.shapes import SHAPES, plan_states
from tests.profile import size
from tests.unit.synth.conftest import SMALL_NATION
from tests.unit.synth.observed import Observed
from tests.unit.synth.true_totals import origin_totals, race_totals, sets_of_pool

NATION = 331_449_000
#: A tenth of the nation has the same law, and is planned in a moment.
PERSONS = size(quick=NATION // 10, long=NATION)


def all_totals(communities: Communities, catalogue: IterationCatalogue) -> Counter[str]:
    race = [it for it in catalogue.iterations if it.kind is not Kind.ETHNICITY]
    origins = [it for it in catalogue.iterations if it.kind is Kind.ETHNICITY]
    return race_totals(sets_of_pool(communities), race) + origin_totals(communities, origins)


@pytest.fixture(scope="module")
def bureau(census_2020: Path) -> Parameters:
    return load(census_2020)


@pytest.fixture(scope="module")
def planned(bureau: Parameters) -> Counter[str]:
    return all_totals(communities_of(bureau, PERSONS, seed=2020), bureau.catalogue)


@pytest.mark.tries("group sizes", 2500)
def test_groups_have_their_published_sizes(planned: Counter[str]) -> None:
    scale = PERSONS / PUBLISHED_PERSONS
    exact = [one for one in published_sizes() if one.is_exact and one.count >= 100]
    assert len(exact) > 1_800
    near = [one for one in exact if abs(planned[one.code] / scale - one.count) <= max(60 / scale, 0.05 * one.count)]
    assert len(near) >= 0.99 * len(exact)
    # A tenth of a small group is a few persons, which rounding may change a lot.
    far = [
        one.name for one in exact if not 0.5 <= planned[one.code] / (scale * one.count) <= 2 and one.count * scale >= 60
    ]
    assert not far


#: Alone, and alone or in combination: published with the redistricting data of 2020.
MAJOR_GROUPS = {
    "White": (204_277_273, 235_411_507),
    "Black or African American": (41_104_200, 46_936_733),
    "American Indian and Alaska Native": (3_727_135, 9_666_058),
    "Asian": (19_886_049, 24_000_998),
    "Native Hawaiian and Other Pacific Islander": (689_966, 1_586_527),
    "Some Other Race": (27_915_715, 49_902_536),
}


def test_major_groups_come_out_although_nothing_is_fitted_to_them(planned: Counter[str], bureau: Parameters) -> None:
    totals: dict[tuple[str, Kind], float] = {
        (it.name.split(" alone")[0], it.kind): planned[it.code] * PUBLISHED_PERSONS / PERSONS
        for it in bureau.catalogue.iterations
        if it.level == 0
    }
    for name, published in MAJOR_GROUPS.items():
        for kind, count in zip((Kind.ALONE, Kind.COMBINATION), published, strict=True):
            is_far = name.startswith("Native Hawaiian") and kind is Kind.ALONE
            assert totals[name, kind] == pytest.approx(count, rel=0.15 if is_far else 0.04)


def test_stat_levels_of_the_nation_are_those_of_the_published_totals(planned: Counter[str], bureau: Parameters) -> None:
    scale = PERSONS / PUBLISHED_PERSONS
    exact = {one.code: one.count for one in published_sizes() if one.is_exact}
    for level in next(run for run in bureau.release.runs if run.name == "us").levels:
        if level.geography.name != "USA":
            continue
        here = [it for it in bureau.catalogue.tabulated(level.iteration_level, local=False) if it.code in exact]
        here = [it for it in here if not it.is_total_only]
        wanted = Counter(bisect_right(level.thresholds, exact[it.code]) for it in here)
        found = Counter(bisect_right(level.thresholds, planned[it.code] / scale) for it in here)
        assert set(wanted) == set(found)
        assert all(abs(found[stat] - many) <= 0.1 * many for stat, many in wanted.items())


def test_every_person_of_the_records_is_one_of_the_plan(small_nation: Path) -> None:
    parameters = load(small_nation / "params")
    states = plan_states(SMALL_NATION, SMALL_NATION.states, puerto_rico=True)
    communities = plan_country(parameters, states, seed=2020).communities
    planned = {codes: persons for codes, persons in sets_of_pool(communities) if persons}
    codes = Observed.of(small_nation, puerto_rico=False).codes()
    rows, counts = np.unique(codes, axis=0, return_counts=True)
    found = {
        tuple(f"{code:04d}" for code in row if code): many
        for row, many in zip(rows.tolist(), counts.tolist(), strict=True)
    }
    assert found == planned


def test_origins_of_the_records_are_those_of_the_plan(small_nation: Path) -> None:
    parameters = load(small_nation / "params")
    states = plan_states(SMALL_NATION, SMALL_NATION.states, puerto_rico=True)
    communities = plan_country(parameters, states, seed=2020).communities
    planned: Counter[int] = Counter()
    for ethnicity, persons in zip(communities.ethnicity.tolist(), communities.persons.tolist(), strict=True):
        planned[int(communities.ethnicity_codes[ethnicity])] += persons
    found = Counter(Observed.of(small_nation, puerto_rico=False).column("QSPAN").tolist())
    assert found == planned


def test_published_sizes_have_sources_and_are_read_when_they_are_needed() -> None:
    sizes = published_sizes()
    assert len(sizes) == 2_733
    assert sum(one.is_exact for one in sizes) >= 2_684
    assert all(one.source and one.count >= 0 for one in sizes)
    assert len({one.code for one in sizes}) == len(sizes)
    code = (
        "import safetab.cli.synth, safetab.synth.published_sizes as p; print(p.published_sizes.cache_info().currsize)"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "0"
    )


def iteration(code: str, name: str, kind: Kind, level: int = 2) -> Iteration:
    return Iteration(code, name, level, kind, None, frozenset({"1"}))


def test_sizes_are_matched_by_code_and_for_other_definitions_by_name(bureau: Parameters) -> None:
    found = published_sizes_of(bureau.catalogue)
    assert len(found) == len(published_sizes())
    assert found["1024"] == 25_536_410
    other = IterationCatalogue(
        ("1",),
        (
            # The Bureau's code of another group, and codes that the Bureau does not have.
            iteration("1024", "Irish alone", Kind.ALONE),
            iteration("A", "ENGLISH alone or in any combination", Kind.COMBINATION),
            iteration("B", "Mexican", Kind.ETHNICITY),
            iteration("C", "Mexican Indian alone or in any combination", Kind.COMBINATION, level=1),
            iteration("D", "Atlantean alone", Kind.ALONE),
        ),
    )
    assert published_sizes_of(other) == {"1024": 10_909_541, "A": 46_550_968, "B": 35_850_702, "C": 725_536}


def test_the_published_sizes_have_a_name(bureau: Parameters, tmp_path: Path) -> None:
    assert own_sizes(US_2020, bureau.catalogue) is None
    assert own_sizes(None, bureau.catalogue) is None
    file = tmp_path / "sizes.csv"
    file.write_text('"ITERATION_CODE";"COUNT"\n"1024";"7"\n')
    assert own_sizes(file, bureau.catalogue) == own_sizes(str(file), bureau.catalogue) == {"1024": 7}


def test_own_sizes_are_the_persons_of_the_country(tmp_path: Path, tiny: Path) -> None:
    rows = {it.name: it.code for it in load(tiny / "params").catalogue.iterations}
    wanted = {
        rows["Finnish alone"]: 2_000,
        rows["Finnish alone or in any combination"]: 3_000,
        rows["Samoan alone"]: 1_500,
        rows["Samoan alone or in any combination"]: 1_700,
        rows["Cuban"]: 4_000,
    }
    file = tmp_path / "sizes.txt"
    file.write_text("ITERATION_CODE|COUNT\n" + "".join(f"{code}|{count}\n" for code, count in wanted.items()))
    shape = replace(SHAPES["town"], puerto_rico_share=0.0)
    make_country(Country(shape, sizes=file), tmp_path / "x")
    parameters = load(tmp_path / "x" / "params")
    seen = Observed.of(tmp_path / "x", puerto_rico=False)
    sets = Counter(tuple(f"{code:04d}" for code in row if code) for row in seen.codes().tolist())
    origins = Counter(f"{code:04d}" for code in seen.column("QSPAN").tolist())
    found = race_totals(sets.items(), [it for it in parameters.catalogue.iterations if it.kind is not Kind.ETHNICITY])
    for it in parameters.catalogue.iterations:
        if it.kind is Kind.ETHNICITY:
            found[it.code] = sum(origins[code] for code in it.members)
    assert {code: found[code] for code in wanted} == pytest.approx(wanted, rel=0.05)


def test_sizes_that_do_not_fit_are_scaled_down(tiny: Path) -> None:
    parameters = load(tiny / "params")
    codes = {it.name: it.code for it in parameters.catalogue.iterations}
    many = {"Irish": 60_000, "Finnish": 60_000, "Thai": 30_000, "Korean": 30_000}
    sizes = {codes[f"{name} alone or in any combination"]: count for name, count in many.items()}
    communities = communities_of(parameters, 50_000, seed=1, sizes=sizes)
    totals = all_totals(communities, parameters.catalogue)
    assert int(communities.persons.sum()) == 50_000
    found = [totals[code] for code in sizes]
    assert found == pytest.approx([count * sum(found) / 180_000 for count in many.values()], rel=0.05)
    assert 50_000 < sum(found) < 70_000


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("ITERATION_CODE|COUNT\n1001|-5\n", ["SYNTH-010"]),
        ("ITERATION_CODE|COUNT\n1001|1.5\n1002|many\n", ["SYNTH-010"]),
        ("ITERATION_CODE|COUNT\nZZ|5\n", ["SYNTH-011"]),
        ("ITERATION_CODE|COUNT\n1001|5\n1001|6\n", ["SYNTH-012"]),
        ("ITERATION_CODE|COUNT\n1001|x\nZZ|5\n1001|6\n", ["SYNTH-010", "SYNTH-011", "SYNTH-012"]),
    ],
)
def test_sizes_that_have_no_meaning_are_refused(tmp_path: Path, tiny: Path, text: str, codes: list[str]) -> None:
    file = tmp_path / "sizes.txt"
    file.write_text(text)
    with pytest.raises(InputError) as error:
        read_sizes(file, load(tiny / "params").catalogue)
    assert [finding.rule.code for finding in error.value.findings] == codes
    with pytest.raises(InputError):
        make_country(Country(SHAPES["tiny"], sizes=file), tmp_path / "x")
    assert [path.name for path in tmp_path.iterdir()] == ["sizes.txt"]
