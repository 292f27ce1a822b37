"""The sex of a record is the same whether the column holds text or whole numbers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from safetab.engines.duckdb.dialect import DuckDbDialect
from safetab.engines.layout import RecordLayout
from safetab.engines.logical_plan import RecordQueries
from safetab.params.load import load
from safetab.pipeline.inputs import read_geographies
from tests.worlds import tiny

#: Texts that are the spelling of a number at some width, and texts that never are.
SEXES = ("1", "2", "01", "02", "0", "00", "-1", "-01", "10", "010", "12345", "M", "", "1.0", " 1", "\u0661", "9" * 30)
NUMBERS = (0, 1, 2, 10, 12345, -1, 7, None)


@pytest.fixture(scope="module")
def layout(tmp_path_factory: pytest.TempPathFactory) -> RecordLayout:
    folder = tiny.write(tmp_path_factory.mktemp("tiny"), tiny.files())
    parameters = load(folder / "params")
    run = parameters.release.runs[0]
    geography = read_geographies(parameters.release, Path(folder) / "data", [])[run.name]
    return RecordLayout.of("records", parameters.release, run, parameters.catalogue, geography)


@pytest.mark.parametrize("width", [None, 1, 2, 3])
def test_numbers_are_the_sexes_that_their_texts_are(layout: RecordLayout, width: int | None) -> None:
    name = layout.columns.sex
    assert name is not None
    widths = {} if width is None else {name: width}
    layout = replace(layout, columns=replace(layout.columns, sexes=SEXES, widths=widths))
    rows = ", ".join(f"({'NULL' if number is None else number})" for number in NUMBERS)
    of_numbers = RecordQueries(layout, DuckDbDialect({name: "INTEGER"}))
    asked = f'SELECT {of_numbers.sex()}, {of_numbers.text_of(name)} FROM (VALUES {rows}) AS raw ("{name}")'  # noqa: S608
    answers = duckdb.execute(asked).fetchall()
    assert [sex for sex, _ in answers] == [SEXES.index(text) if text in SEXES else -1 for _, text in answers]
    assert {sex for sex, _ in answers} > {-1}
    of_text = RecordQueries(layout, DuckDbDialect({name: "VARCHAR"}))
    texts = ", ".join("(NULL)" if text is None else f"('{text}')" for _, text in answers)
    again = duckdb.execute(f'SELECT {of_text.sex()} FROM (VALUES {texts}) AS raw ("{name}")').fetchall()  # noqa: S608
    assert [sex for (sex,) in again] == [sex for sex, _ in answers]
