"""Faults of tables as such, in the code list and the geography file, and of what the geography file says."""

from __future__ import annotations

import shutil
from collections.abc import Callable

import pyarrow as pa
import pyarrow.parquet as pq

from safetab.files import rules
from safetab.params.document import FilesPart
from safetab.population import rules as population_rules
from safetab.synth.faults.site import Fault, Site, read_lines
from safetab.synth.records import GEOGRAPHY_STEM, Format

_CODES = FilesPart().codes


def _bytes(change: Callable[[bytes], bytes]) -> Callable[[Site], None]:
    """Change the bytes of the code list."""

    def make(site: Site) -> None:
        path = site.params / _CODES
        path.write_bytes(change(path.read_bytes()))

    return make


def _after_header(text: bytes, more: bytes) -> bytes:
    header, rest = text.split(b"\n", 1)
    return header + b"\n" + more + rest


def _remove_geography(site: Site) -> None:
    path = site.data / f"{GEOGRAPHY_STEM}.{site.table_format.suffix}"
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()


def _folder_for_file(site: Site) -> None:
    path = site.params / _CODES
    path.unlink()
    path.mkdir()


def _as_one_parquet(site: Site, change: Callable[[pa.Table], pa.Table]) -> None:
    """Replace the geography file by one Parquet file, whatever it was."""
    part = site.parts(GEOGRAPHY_STEM)[0]
    table = pq.read_table(part) if site.table_format is Format.PARQUET else read_lines(part)
    _remove_geography(site)
    pq.write_table(change(table), site.data / f"{GEOGRAPHY_STEM}.parquet")


def _parts_that_differ(site: Site) -> None:
    """Replace the geography file by two parts, one with text and one with numbers for the blocks."""
    part = site.parts(GEOGRAPHY_STEM)[0]
    table = pq.read_table(part) if site.table_format is Format.PARQUET else read_lines(part)
    _remove_geography(site)
    folder = site.data / f"{GEOGRAPHY_STEM}.parquet"
    folder.mkdir()
    numbers = table["TABBLK"].cast(pa.string()).cast(pa.int32())
    pq.write_table(table, folder / "a.parquet")
    pq.write_table(table.set_column(table.column_names.index("TABBLK"), "TABBLK", numbers), folder / "b.parquet")


def _not_parquet(site: Site) -> None:
    _remove_geography(site)
    (site.data / f"{GEOGRAPHY_STEM}.parquet").write_bytes(b"PAR1 and then nothing that is Parquet")


def _with_null(table: pa.Table) -> pa.Table:
    values = table["TABBLK"].cast(pa.string()).to_pylist()
    return table.set_column(table.column_names.index("TABBLK"), "TABBLK", pa.array([None, *values[1:]], pa.string()))


def _with_floats(table: pa.Table) -> pa.Table:
    numbers = table["TABBLK"].cast(pa.string()).cast(pa.float64())
    return table.set_column(table.column_names.index("TABBLK"), "TABBLK", numbers)


def _two_forms(site: Site) -> None:
    other = "txt" if site.table_format is Format.PARQUET else "parquet"
    (site.data / f"{GEOGRAPHY_STEM}.{other}").write_bytes(b"")


def _narrow(table: pa.Table) -> pa.Table:
    values = table["TABTRACTCE"].cast(pa.string()).to_pylist()
    index = table.column_names.index("TABTRACTCE")
    return table.set_column(index, "TABTRACTCE", pa.array([values[0][1:], *values[1:]], pa.string()))


def _repeat_block(table: pa.Table) -> pa.Table:
    return pa.concat_tables([table, table.slice(0, 1)])


def _without_areas(table: pa.Table) -> pa.Table:
    index = table.column_names.index("AIANNHCE")
    return table.set_column(index, "AIANNHCE", pa.array(["9999"] * table.num_rows, pa.string()))


def _filter(*, keep: bool) -> Callable[[Site], None]:
    """Let the US run ask for a state that is not there: beside the others, or alone."""

    def make(site: Site) -> None:
        config = site.config()
        config["run_us"] = True
        config["state_filter_us"] = [*(site.states if keep else ()), "99"]
        site.write_config(config)

    return make


def _geography(edit: Callable[[pa.Table], pa.Table], *, every_part: bool = False) -> Callable[[Site], None]:
    return lambda site: site.edit_table(GEOGRAPHY_STEM, edit, every_part=every_part)


FAULTS = (
    Fault("missing-file", rules.MISSING_FILE, "no geography file", _remove_geography),
    Fault("empty-file", rules.EMPTY_FILE, "a code list of no bytes", _bytes(lambda _: b"")),
    Fault(
        "not-utf8", rules.NOT_UTF8, "a code list in Latin 1", _bytes(lambda t: _after_header(t, b"0001|Qu\xe9bec\n"))
    ),
    Fault("commas", rules.WRONG_DELIMITER, "commas in the code list", _bytes(lambda text: text.replace(b"|", b","))),
    Fault(
        "missing-column",
        rules.MISSING_COLUMN,
        "a column of the code list renamed",
        _bytes(lambda text: text.replace(b"RACE_ETH_NAME", b"NAME", 1)),
    ),
    Fault(
        "repeated-column",
        rules.REPEATED_COLUMN,
        "a column twice in the header of the code list",
        _bytes(lambda text: b"RACE_ETH_NAME|" + text.replace(b"\n", b"\nx|").removesuffix(b"x|")),
    ),
    Fault(
        "ragged-line", rules.FIELD_COUNT, "a line with three fields", _bytes(lambda t: _after_header(t, b"0001|a|b\n"))
    ),
    Fault("blank-line", rules.BLANK_LINE, "a blank line in the middle", _bytes(lambda t: _after_header(t, b"\n"))),
    Fault("empty-value", rules.EMPTY_VALUE, "a code without a name", _bytes(lambda t: _after_header(t, b"0001|\n"))),
    Fault("no-rows", rules.NO_ROWS, "a header and nothing below", _bytes(lambda text: text.split(b"\n")[0] + b"\n")),
    Fault("unreadable", rules.UNREADABLE, "a folder in place of the code list", _folder_for_file),
    Fault("not-parquet", rules.NOT_PARQUET, "a geography file that is not Parquet", _not_parquet),
    Fault("missing-value", rules.MISSING_VALUE, "a null in Parquet", lambda site: _as_one_parquet(site, _with_null)),
    Fault("column-type", rules.COLUMN_TYPE, "blocks as fractions", lambda site: _as_one_parquet(site, _with_floats)),
    Fault(
        "parts-differ", rules.PARTS_DIFFER, "blocks as text in one part and as numbers in another", _parts_that_differ
    ),
    Fault("two-forms", rules.TWO_FORMS, "the geography file as text and as Parquet", _two_forms),
    Fault("nul-byte", rules.NUL_BYTE, "a NUL in the header", _bytes(lambda text: b"\x00" + text)),
    Fault("wrong-width", population_rules.WRONG_WIDTH, "a tract of five digits", _geography(_narrow)),
    Fault("repeated-block", population_rules.REPEATED_BLOCK, "a block twice", _geography(_repeat_block)),
    Fault(
        "run-without-blocks", population_rules.RUN_WITHOUT_BLOCKS, "only a state that is not there", _filter(keep=False)
    ),
    Fault(
        "level-without-regions",
        population_rules.LEVEL_WITHOUT_REGIONS,
        "no block in an AIANNH area",
        _geography(_without_areas, every_part=True),
    ),
    Fault(
        "state-without-blocks", population_rules.VALUE_WITHOUT_BLOCKS, "a state that is not there", _filter(keep=True)
    ),
)
