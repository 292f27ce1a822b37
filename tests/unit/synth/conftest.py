"""Countries that several tests look at."""

from __future__ import annotations

from pathlib import Path

import pytest

from safetab.synth.country import Country, make_country
from safetab.synth.definitions import GroupDefinitions, generate
from safetab.synth.parameters import config_json, write_definitions
from safetab.synth.shapes import SHAPES, STATES, AreaCounts, Shape
from safetab.synth.write_data import Format

SMALL_NATION = Shape(
    "small nation",
    600_000,
    tuple(STATES),
    AreaCounts(800, 6_000, 2_000, 80_000),
    120,
    0.0098,
    AreaCounts(10, 60, 10, 900),
)


@pytest.fixture(scope="session")
def small_nation(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("synth") / "nation"
    make_country(Country(SMALL_NATION), folder)
    return folder


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("synth") / "tiny"
    make_country(Country(SHAPES["tiny"]), folder)
    return folder


@pytest.fixture(scope="session")
def tiny_text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("synth") / "tiny"
    make_country(Country(SHAPES["tiny"], table_format=Format.TEXT), folder)
    return folder


def _with_few_groups(folder: Path, table_format: Format) -> Path:
    """A tiny country with the codes of Pacific Islanders and a few Hispanic origins only, which is checked quickly."""
    everything = generate()
    codes = [row for row in everything.codes if row[0].startswith("75") or row[0] in {"2000", "2001", "9950"}]
    kept = {code for code, _ in codes}
    mapping = [row for row in everything.mapping if row[1] in kept]
    mapped = {iteration for iteration, _ in mapping}
    params = folder / "own"
    params.mkdir()
    (params / "config.json").write_text(config_json(["04"], puerto_rico=True))
    write_definitions(
        params,
        GroupDefinitions(
            codes,
            [row for row in everything.race_iterations if row[0] in mapped],
            [row for row in everything.ethnicity_iterations if row[0] in mapped],
            mapping,
        ),
    )
    make_country(Country(SHAPES["tiny"], table_format=table_format, params=params), folder / "country")
    return folder / "country"


@pytest.fixture(scope="session")
def few_groups(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _with_few_groups(tmp_path_factory.mktemp("synth"), Format.PARQUET)


@pytest.fixture(scope="session")
def few_groups_text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _with_few_groups(tmp_path_factory.mktemp("synth"), Format.TEXT)
