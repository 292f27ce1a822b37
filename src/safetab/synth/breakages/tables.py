"""Breakages of table files, shown on the code list and the geography file, and of the geography itself."""

from __future__ import annotations

import gzip
from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from safetab.params.files_section import FilesSection
from safetab.rules import file_rules, geography_rules
from safetab.synth.breakages.site import GEOGRAPHY_STEM, Breakage, Site, with_column
from safetab.synth.geography import NO_AREA
from safetab.synth.write_data import Format

_CODES = FilesSection().codes


def _bytes(change: Callable[[bytes], bytes]) -> Callable[[Site], None]:
    """Change the bytes of the code list."""

    def apply(site: Site) -> None:
        path = site.params / _CODES
        path.write_bytes(change(path.read_bytes()))

    return apply


def _after_header(text: bytes, more: bytes) -> bytes:
    header, rest = text.split(b"\n", 1)
    return header + b"\n" + more + rest


def _remove_geography(site: Site) -> None:
    site.remove_table(GEOGRAPHY_STEM)


def _take_geography(site: Site) -> pa.Table:
    """Remove the geography file, and return the blocks of its smallest part file."""
    table = site.read_table(site.part_files(GEOGRAPHY_STEM)[0])
    _remove_geography(site)
    return table


def _folder_for_file(site: Site) -> None:
    path = site.params / _CODES
    path.unlink()
    path.mkdir()


def _as_one_parquet(site: Site, change: Callable[[pa.Table], pa.Table]) -> None:
    """Replace the geography file by one Parquet file."""
    pq.write_table(change(_take_geography(site)), site.data / f"{GEOGRAPHY_STEM}.parquet")


def _parts_that_differ(site: Site) -> None:
    """Replace the geography file by two part files, one with text and one with numbers for the blocks."""
    table = _take_geography(site)
    folder = site.data / f"{GEOGRAPHY_STEM}.parquet"
    folder.mkdir()
    numbers = table["TABBLK"].cast(pa.string()).cast(pa.int32())
    pq.write_table(table, folder / "a.parquet")
    pq.write_table(with_column(table, "TABBLK", numbers), folder / "b.parquet")


def _note_among_parts(site: Site) -> None:
    """Replace the geography file by a folder with a part file and a note."""
    table = _take_geography(site)
    folder = site.data / f"{GEOGRAPHY_STEM}.parquet"
    folder.mkdir()
    pq.write_table(table, folder / "part.parquet")
    (folder / "note.txt").write_text("More blocks will follow.\n")


def _with_first_text(table: pa.Table, name: str, change: Callable[[str], str | None]) -> pa.Table:
    """The table with one column as text and its first value changed."""
    first, *others = table[name].cast(pa.string()).to_pylist()
    return with_column(table, name, pa.array([change(first), *others], pa.string()))


def _not_parquet(site: Site) -> None:
    _remove_geography(site)
    (site.data / f"{GEOGRAPHY_STEM}.parquet").write_bytes(b"PAR1 and then nothing that is Parquet")


def _with_null(table: pa.Table) -> pa.Table:
    return _with_first_text(table, "TABBLK", lambda _: None)


def _with_fractions(table: pa.Table) -> pa.Table:
    return with_column(table, "TABBLK", pc.add(table["TABBLK"].cast(pa.string()).cast(pa.float64()), 0.5))


def _two_forms(site: Site) -> None:
    other = "txt" if site.table_format is Format.PARQUET else "parquet"
    (site.data / f"{GEOGRAPHY_STEM}.{other}").write_bytes(b"")


def _narrow(table: pa.Table) -> pa.Table:
    return _with_first_text(table, "TABTRACTCE", lambda tract: tract[1:])


def _with_tab(table: pa.Table) -> pa.Table:
    return _with_first_text(table, "TABBLK", lambda block: f"\t{block[1:]}")


def _repeat_block(table: pa.Table) -> pa.Table:
    return pa.concat_tables([table, table.slice(0, 1)])


def _without_areas(table: pa.Table) -> pa.Table:
    return with_column(table, "AIANNHCE", pa.array([NO_AREA] * table.num_rows, pa.string()))


def _filter(*, keep: bool) -> Callable[[Site], None]:
    """Make the US run include a state that does not exist: besides the others, or alone."""

    def apply(site: Site) -> None:
        states = [*(site.states if keep else ()), "99"]
        site.edit_config(lambda config: config.update(run_us=True, state_filter_us=states))

    return apply


def _other_state(blocks: pa.Table) -> pa.Table:
    """The first block once more, in a state that no run takes."""
    place = blocks.column_names.index("TABBLKST")
    state = pa.array(["98"]).cast(blocks.schema.field(place).type)
    return pa.concat_tables([blocks, blocks.slice(0, 1).set_column(place, blocks.schema.field(place), state)])


def _geography(edit: Callable[[pa.Table], pa.Table], *, every_file: bool = False) -> Callable[[Site], None]:
    return lambda site: site.edit_table(GEOGRAPHY_STEM, edit, every_file=every_file)


BREAKAGES = (
    Breakage("missing-file", file_rules.MISSING_FILE, "no geography file", _remove_geography),
    Breakage("empty-file", file_rules.EMPTY_FILE, "an empty code list", _bytes(lambda _: b"")),
    Breakage(
        "not-utf8",
        file_rules.NOT_UTF8,
        "a code list in Latin 1",
        _bytes(lambda t: _after_header(t, b"0001|Qu\xe9bec\n")),
    ),
    Breakage(
        "colons", file_rules.OTHER_DELIMITER, "colons in the code list", _bytes(lambda text: text.replace(b"|", b":"))
    ),
    Breakage(
        "two-delimiters",
        file_rules.AMBIGUOUS_DELIMITER,
        "bars and commas in the header of the code list",
        _bytes(lambda text: text.replace(b"RACE_ETH_CODE|RACE_ETH_NAME", b"CODE|NAME,ALL", 1)),
    ),
    Breakage(
        "open-quote",
        file_rules.WRONG_QUOTES,
        "a quote in the code list that is never closed",
        _bytes(lambda text: _after_header(text.replace(b",", b" ").replace(b"|", b","), b'0001,"Open\n')),
    ),
    Breakage(
        "missing-column",
        file_rules.MISSING_COLUMN,
        "a column of the code list renamed",
        _bytes(lambda text: text.replace(b"RACE_ETH_NAME", b"NAME", 1)),
    ),
    Breakage(
        "repeated-column",
        file_rules.REPEATED_COLUMN,
        "a column that appears twice in the code list",
        _bytes(lambda text: b"RACE_ETH_NAME|" + text.replace(b"\n", b"\nx|").removesuffix(b"x|")),
    ),
    Breakage(
        "ragged-line",
        file_rules.FIELD_COUNT,
        "a line with three fields",
        _bytes(lambda t: _after_header(t, b"0001|a|b\n")),
    ),
    Breakage(
        "blank-line", file_rules.BLANK_LINE, "a blank line in the code list", _bytes(lambda t: _after_header(t, b"\n"))
    ),
    Breakage(
        "empty-value", file_rules.EMPTY_VALUE, "a code without a name", _bytes(lambda t: _after_header(t, b"0001|\n"))
    ),
    Breakage(
        "no-rows",
        file_rules.NO_ROWS,
        "a code list with only a header",
        _bytes(lambda text: text.split(b"\n")[0] + b"\n"),
    ),
    Breakage("unreadable", file_rules.UNREADABLE, "a folder instead of the code list", _folder_for_file),
    Breakage("not-parquet", file_rules.NOT_PARQUET, "a geography file that is not Parquet", _not_parquet),
    Breakage(
        "missing-value",
        file_rules.MISSING_VALUE,
        "a null in a Parquet file",
        lambda site: _as_one_parquet(site, _with_null),
    ),
    Breakage(
        "column-type",
        file_rules.COLUMN_TYPE,
        "blocks as fractions",
        lambda site: _as_one_parquet(site, _with_fractions),
    ),
    Breakage(
        "parts-differ",
        file_rules.PARTS_DIFFER,
        "blocks as text in one part file and as numbers in another",
        _parts_that_differ,
    ),
    Breakage("two-forms", file_rules.TWO_FORMS, "the geography file as text and as Parquet", _two_forms),
    Breakage("nul-byte", file_rules.NUL_BYTE, "a NUL byte in the header", _bytes(lambda text: b"\x00" + text)),
    Breakage("not-a-part", file_rules.NOT_A_PART, "a note among the part files", _note_among_parts),
    Breakage(
        "compressed",
        file_rules.DAMAGED_COMPRESSION,
        "a compressed code list whose name does not say so",
        _bytes(lambda text: gzip.compress(text, mtime=0)),
    ),
    Breakage("wrong-width", geography_rules.WRONG_WIDTH, "a tract of five digits", _geography(_narrow)),
    Breakage("repeated-block", geography_rules.REPEATED_BLOCK, "a block that appears twice", _geography(_repeat_block)),
    Breakage("region-label", geography_rules.LABEL, "a block with a tab in it", _geography(_with_tab)),
    Breakage(
        "run-without-blocks",
        geography_rules.RUN_WITHOUT_BLOCKS,
        "a run with only a state that does not exist",
        _filter(keep=False),
    ),
    Breakage(
        "level-without-regions",
        geography_rules.LEVEL_WITHOUT_REGIONS,
        "no block in an AIANNH area",
        _geography(_without_areas, every_file=True),
    ),
    Breakage(
        "state-without-blocks",
        geography_rules.VALUE_WITHOUT_BLOCKS,
        "a run that includes a state that does not exist",
        _filter(keep=True),
    ),
    Breakage(
        "state-in-no-run",
        geography_rules.VALUE_IN_NO_RUN,
        "a block in a state that no run includes",
        _geography(_other_state),
    ),
)
