"""Texts in memory become numbers: alike exactly where the texts are, and the texts come back from them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from safetab.engines.compact import Listed, NumberedTable, SameWidth, with_numbers
from safetab.engines.layout import RecordLayout
from safetab.params.load import load
from safetab.pipeline.inputs import read_geographies
from safetab.population.geography_file import BlockFilter
from tests.worlds import tiny


@pytest.fixture(scope="module")
def layout(tmp_path_factory: pytest.TempPathFactory) -> RecordLayout:
    folder = tiny.write(tmp_path_factory.mktemp("tiny"), tiny.files())
    parameters = load(folder / "params")
    run = parameters.release.runs[0]
    geography = read_geographies(parameters.release, Path(folder) / "data", [])[run.name]
    return RecordLayout.of("records", parameters.release, run, parameters.catalogue, geography)


def table_of(layout: RecordLayout, **columns: pa.Array | pa.ChunkedArray) -> pa.Table:
    """A table of two records, or as many as are given; columns that are not named hold a code."""
    rows = max(map(len, columns.values()), default=2)
    sound = pa.array((["1000", "0010"] * rows)[:rows])
    return pa.table({name: columns.get(name, sound) for name in layout.columns_read})


def spelled(numbered: NumberedTable, name: str) -> list[str | None]:
    """What the numbers of a column stand for."""
    texts = [numbered.spelling[name].texts(piece).to_pylist() for piece in numbered.table[name].chunks]
    return [text for piece in texts for text in piece]


KINDS = (pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string()))


@pytest.mark.parametrize(
    "texts",
    [
        ["1000", "2000"],
        ["1000", None],
        [None, None],
        ["Null", "1000"],
        ["10", "00010"],
        ["1000", ""],
        ["1000", "\u0661\u0660\u0660\u0660"],
        ["é", "10"],
        ["a", "b"],
        ["ab", "ba"],
        ["12345678", "87654321"],
        ["123", "321"],
        # As many bytes as two of four, but cut elsewhere.
        ["123", "45678"],
    ],
)
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_texts_come_back_from_their_numbers(layout: RecordLayout, texts: list[str | None], kind: pa.DataType) -> None:
    column = pa.array(texts, pa.string()).cast(kind)
    for name in ("QRACE2", "TABBLK"):
        numbered = with_numbers(layout, table_of(layout, **{name: column}))
        assert pa.types.is_integer(numbered.table[name].type)
        assert spelled(numbered, name) == texts
        spelling, asked = numbered.spelling[name], pa.array([texts[1], "no text of this one", "123", None], pa.string())
        numbers = spelling.numbers(asked)
        assert numbers.type == numbered.table[name].type
        assert numbers[0].as_py() == numbered.table[name][1].as_py()
        assert numbers[1].as_py() is None
        assert (numbers[2].as_py() is None) == ("123" not in texts)
        assert numbers[3].as_py() is None


def test_texts_of_one_width_and_dictionaries_are_not_copied(layout: RecordLayout) -> None:
    codes = pa.array(["1000", "2000"])
    encoded = codes.dictionary_encode()
    numbered = with_numbers(layout, table_of(layout, QRACE1=codes, QRACE2=encoded))
    assert numbered.table["QRACE1"].chunk(0).buffers()[1].address == codes.buffers()[2].address
    assert numbered.table["QRACE2"].chunk(0).buffers()[1].address == encoded.indices.buffers()[1].address
    assert isinstance(numbered.spelling["QRACE1"], SameWidth)
    assert isinstance(numbered.spelling["QRACE2"], Listed)


def test_pieces_that_begin_in_the_middle(layout: RecordLayout) -> None:
    """Also where the first of them cannot be read as numbers in its place."""
    whole = pa.array(["123", "1000", "0010", "2000", "3000"])
    for column in (pa.chunked_array([whole.slice(1, 2)]), pa.chunked_array([whole.slice(3, 1), whole.slice(4, 1)])):
        assert spelled(with_numbers(layout, table_of(layout, QRACE1=column)), "QRACE1") == column.to_pylist()
    aligned = pa.chunked_array([pa.array(["1000", "0010", "2000"]).slice(1, 2)])
    numbered = with_numbers(layout, table_of(layout, QRACE1=aligned))
    assert isinstance(numbered.spelling["QRACE1"], SameWidth)
    assert spelled(numbered, "QRACE1") == ["0010", "2000"]


def test_views_of_one_width_are_numbers_too(layout: RecordLayout) -> None:
    """Wherever a piece begins; unless one of their texts is longer, of which the view has only the first bytes."""
    long = "1000 is the beginning of this text"
    whole = pa.array([long, "1000", "0010", "2000"], pa.string_view())
    for column, kind in (
        (pa.chunked_array([whole.slice(1, 2), whole.slice(3)]), SameWidth),
        (whole.slice(0, 2), Listed),
    ):
        numbered = with_numbers(layout, table_of(layout, QRACE1=column))
        assert isinstance(numbered.spelling["QRACE1"], kind)
        assert spelled(numbered, "QRACE1") == column.to_pylist()


def test_numbers_ages_and_sexes_stay_as_they_are(layout: RecordLayout) -> None:
    before = table_of(layout, QRACE1=pa.array([1000, 2000], pa.uint16()))
    numbered = with_numbers(layout, before)
    for name in ("QAGE", "QSEX", "QRACE1"):
        assert numbered.table[name].equals(before[name])
        assert name not in numbered.spelling


def test_a_column_that_is_the_sex_too_stays_as_it_is(layout: RecordLayout) -> None:
    layout = replace(layout, columns=replace(layout.columns, sex="QSPAN"))
    numbered = with_numbers(layout, table_of(layout))
    assert "QSPAN" not in numbered.spelling
    assert "QRACE1" in numbered.spelling


def test_a_dictionary_with_a_text_twice_or_a_null_stays_as_it_is(layout: RecordLayout) -> None:
    """One text would have two numbers, and a null would have one."""
    for texts in (["1000", "1000"], ["1000", None]):
        column = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), pa.array(texts))
        numbered = with_numbers(layout, table_of(layout, QRACE1=column))
        assert "QRACE1" not in numbered.spelling
        assert numbered.table["QRACE1"].to_pylist() == texts


def test_pieces_with_dictionaries_of_their_own(layout: RecordLayout) -> None:
    pieces = [
        table_of(layout, QRACE1=pa.array(texts).dictionary_encode()) for texts in (["1000", "2000"], ["3000"] * 2)
    ]
    numbered = with_numbers(layout, pa.concat_tables(pieces))
    assert spelled(numbered, "QRACE1") == ["1000", "2000", "3000", "3000"]


def test_a_table_without_rows(layout: RecordLayout) -> None:
    for table in (table_of(layout).slice(0, 0), pa.Table.from_batches([], table_of(layout).schema)):
        assert with_numbers(layout, table).table.num_rows == 0


def test_what_a_run_leaves_out_are_numbers_too(layout: RecordLayout) -> None:
    (name, *_) = layout.columns.block
    layout = replace(layout, only=BlockFilter(name, ("01",)), left_out=("72", "nowhere", "02"))
    states = pa.array(["72", "01"])
    for column, left_out in ((states, ("72", "02")), (states.dictionary_encode(), ("72",))):
        numbered = with_numbers(layout, table_of(layout, **{name: column}))
        numbers = numbered.spelling[name].numbers(pa.array(left_out)).to_pylist()
        assert numbered.layout(layout).left_out == tuple(map(str, numbers))
        assert numbered.layout(layout).table is numbered.table
