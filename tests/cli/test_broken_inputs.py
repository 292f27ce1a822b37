"""A table of broken inputs: what is broken, the code and the place that must be told, the exit status."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from safetab.cli.main import main
from safetab.errors import Rule, Severity
from safetab.params.template import release_toml
from safetab.rules import file_rules, geography_rules, group_rules, release_rules
from safetab.rules.noise_rules import LAW_FITS
from tests.worlds import tiny

Files = dict[str, str | bytes]
Breaking = Callable[[Files], object]

CONFIG, CODES = "params/config.json", "params/race-and-ethnicity-codes.txt"
RACE, ETHNICITY = "params/race-characteristic-iterations.txt", "params/ethnicity-characteristic-iterations.txt"
MAPPING, GRF = "params/race-and-ethnicity-code-to-iteration.txt", "data/GRF-C.txt"
RECORDS = "data/person-records.txt"


def put(path: str, content: str | bytes) -> Breaking:
    return lambda files: files.update({path: content})


def drop(path: str) -> Breaking:
    return lambda files: files.pop(path)


def both(*breakings: Breaking) -> Breaking:
    return lambda files: [breaking(files) for breaking in breakings]


def swap(path: str, old: str, new: str) -> Breaking:
    def breaking(files: Files) -> None:
        text = files[path]
        assert isinstance(text, str)
        assert old in text, f"{old!r} is not in {path}"
        files[path] = text.replace(old, new, 1)

    return breaking


def add(path: str, *lines: str) -> Breaking:
    return lambda files: files.update({path: str(files[path]) + "".join(line + "\n" for line in lines)})


def setting(key: str, value: Any) -> Breaking:
    def breaking(files: Files) -> None:
        config = json.loads(str(files[CONFIG]))
        config[key] = value
        files[CONFIG] = json.dumps(config)

    return breaking


def without(key: str) -> Breaking:
    def breaking(files: Files) -> None:
        config = json.loads(str(files[CONFIG]))
        del config[key]
        files[CONFIG] = json.dumps(config)

    return breaking


def threshold(key: str, value: Any) -> Breaking:
    return setting("thresholds_p", tiny.config()["thresholds_p"] | {key: value})


def toml(*swaps: tuple[str, str], append: str = "") -> Breaking:
    """The paper's release in place of config.json, with some of its text changed."""

    def breaking(files: Files) -> None:
        text = release_toml("paper")
        for old, new in swaps:
            assert old in text, f"{old!r} is not in the template"
            text = text.replace(old, new, 1)
        files.pop(CONFIG)
        files["params/release.toml"] = text + append

    return breaking


def parquet(change: Callable[[pa.Table], pa.Table]) -> Breaking:
    """The geography file as Parquet, after some change to it."""

    def breaking(files: Files) -> None:
        header, *lines = str(files.pop(GRF)).splitlines()
        columns = zip(*(line.split("|") for line in lines), strict=True)
        table = pa.table(dict(zip(header.split("|"), map(list, columns), strict=True)))
        buffer = io.BytesIO()
        pq.write_table(change(table), buffer)
        files["data/GRF-C.parquet"] = buffer.getvalue()

    return breaking


def null_state(table: pa.Table) -> pa.Table:
    values = table["TABBLKST"].to_pylist()
    return table.set_column(0, "TABBLKST", pa.array([None, *values[1:]], pa.string()))


def as_float(table: pa.Table) -> pa.Table:
    return table.set_column(0, "TABBLKST", pa.array([float(v) + 0.5 for v in table["TABBLKST"].to_pylist()]))


def a_note(files: Files) -> None:
    files["data/GRF-C.parquet/deep/part.parquet"] = files.pop("data/GRF-C.parquet")
    files["data/GRF-C.parquet/deep/note.txt"] = "x"


def replaced(column: str, old: str, new: str) -> Callable[[pa.Table], pa.Table]:
    def change(table: pa.Table) -> pa.Table:
        values = [new if value == old else value for value in table[column].to_pylist()]
        return table.set_column(table.schema.get_field_index(column), column, pa.array(values, pa.string()))

    return change


def cut_off(files: Files) -> None:
    files["data/GRF-C.parquet"] = files["data/GRF-C.parquet"][:-20]


def two_parts(files: Files) -> None:
    """The geography as a folder of two parts, one with text and one with numbers for the states."""
    whole = pq.read_table(io.BytesIO(bytes(files.pop("data/GRF-C.parquet"))))  # type: ignore[arg-type]
    numbers = whole.set_column(0, "TABBLKST", pa.array([int(v) for v in whole["TABBLKST"].to_pylist()]))
    for name, part in (("a", whole.slice(0, 3)), ("b", numbers.slice(3))):
        buffer = io.BytesIO()
        pq.write_table(part, buffer)
        files[f"data/GRF-C.parquet/{name}.parquet"] = buffer.getvalue()


@dataclass(frozen=True)
class Case:
    name: str
    breaking: Breaking
    code: str
    place: str
    status: int = 1


LEVEL_1 = '[[level]]\nrun = "us"\ngeography = "STATE"\niteration_level = 1\nbudget = "1"\nthresholds = [1, 2, 3]\n'
SECOND_RUN = '[[run]]\nname = "two"\nwhere = { TABBLKST = ["%s"] }\n' + LEVEL_1.replace('"us"', '"two"')

CASES = [
    # The parameters folder.
    Case("no release in the folder", drop(CONFIG), "PARAMS-001", "params"),
    Case("two releases in the folder", put("params/release.toml", release_toml("paper")), "PARAMS-002", "params"),
    Case("config cut off", put(CONFIG, '{"max_race_codes": 8,\n'), "PARAMS-003", "config.json, line 2"),
    Case("config is a list", put(CONFIG, "[]"), "PARAMS-003", "config.json"),
    Case("config is very deep", put(CONFIG, "[" * 100_000), "PARAMS-003", "config.json"),
    Case("config is empty", put(CONFIG, " \n"), "FILE-002", "config.json"),
    Case("config is Latin-1", put(CONFIG, b'{\n"r\xe9": 1}'), "FILE-003", "config.json, line 2"),
    Case("a key twice", swap(CONFIG, "{", '{"run_us": false, '), "PARAMS-005", "run_us"),
    Case("unknown key", setting("privacy_budget_p_level_3_usa", 1), "PARAMS-006", "privacy_budget_p_level_3_usa"),
    Case("missing budget", without("privacy_budget_p_level_2_tract"), "PARAMS-007", "privacy_budget_p_level_2_tract"),
    Case("missing thresholds", without("thresholds_p"), "PARAMS-007", "thresholds_p"),
    Case("missing run switch", without("run_pr"), "PARAMS-007", "run_pr"),
    Case("missing reader", without("reader"), "PARAMS-007", "reader"),
    Case("missing state filter", without("state_filter_us"), "PARAMS-007", "state_filter_us"),
    Case("missing fraction", without("privacy_budget_p_stage_1_fraction"), "PARAMS-007", "stage_1_fraction"),
    Case("run switch is text", setting("run_us", "yes"), "PARAMS-008", "run_us"),
    Case("negative counts is a number", setting("allow_negative_counts", 1), "PARAMS-008", "allow_negative_counts"),
    Case("thresholds are a list", setting("thresholds_p", [1]), "PARAMS-008", "thresholds_p"),
    Case("budget is text", setting("privacy_budget_p_level_1_usa", "a lot"), "PARAMS-009", "level_1_usa"),
    Case("budget is true", setting("privacy_budget_p_level_1_usa", True), "PARAMS-009", "level_1_usa"),
    Case("budget is null", setting("privacy_budget_p_level_1_usa", None), "PARAMS-015", "config.json"),
    Case(
        "budget is NaN",
        swap(CONFIG, '"privacy_budget_p_level_1_usa": 0.25', '"privacy_budget_p_level_1_usa": NaN'),
        "PARAMS-009",
        "privacy_budget_p_level_1_usa",
    ),
    Case("budget is infinite", setting("privacy_budget_p_level_1_usa", "Infinity"), "PARAMS-009", "level_1_usa"),
    Case("budget is absurd", setting("privacy_budget_p_level_1_usa", "1e999999999"), "PARAMS-009", "level_1_usa"),
    Case("budget is too small for any noise", setting("privacy_budget_p_level_1_usa", "1e-50"), "NOISE-010", "64-bit"),
    Case("budget is negative", setting("privacy_budget_p_level_1_usa", -0.1), "PARAMS-010", "level_1_usa is -0.1"),
    Case("fraction is 0", setting("privacy_budget_p_stage_1_fraction", 0), "PARAMS-011", "stage_1_fraction is 0"),
    Case("fraction is 1", setting("privacy_budget_p_stage_1_fraction", 1.0), "PARAMS-011", "stage_1_fraction is 1.0"),
    Case("suppression chance is 1", setting("zero_suppression_chance", 1), "PARAMS-012", "zero_suppression_chance"),
    Case("suppression chance is negative", setting("zero_suppression_chance", -1), "PARAMS-012", "zero_suppression"),
    Case("two thresholds", threshold("(USA, 1)", [1, 2]), "PARAMS-013", '"(USA, 1)"'),
    Case("a threshold of 16 digits", threshold("(USA, 1)", [1, 2, 10**15]), "PARAMS-013", '"(USA, 1)"'),
    Case("fractional thresholds", threshold("(USA, 1)", [1, 2.5, 3]), "PARAMS-013", '"(USA, 1)"'),
    Case("falling thresholds", threshold("(COUNTY, 2)", [9, 8, 9]), "PARAMS-014", '"(COUNTY, 2)"'),
    Case("unknown privacy definition", setting("privacy_defn", "rdp"), "PARAMS-017", "privacy_defn"),
    Case("no race codes", setting("max_race_codes", 0), "PARAMS-018", "max_race_codes is 0"),
    Case("nine race codes", setting("max_race_codes", 9), "PARAMS-018", "max_race_codes is 9"),
    Case(
        "nothing switched on", both(setting("run_us", False), setting("run_pr", False)), "PARAMS-024", "run_us, run_pr"
    ),
    Case("Puerto Rico among the states", setting("state_filter_us", ["01", "72"]), "PARAMS-032", "state_filter_us"),
    Case("a state twice", setting("state_filter_us", ["01", "01"]), "PARAMS-032", "state_filter_us"),
    Case("states as numbers", setting("state_filter_us", [1, 2]), "PARAMS-032", "state_filter_us"),
    Case("no states", setting("state_filter_us", []), "PARAMS-032", "state_filter_us"),
    Case("thresholds of an unknown level", threshold("(PARISH, 1)", [1, 2, 3]), "PARAMS-033", "(PARISH, 1)"),
    Case("a level of 5,000 digits", threshold(f"(USA, {'1' * 5000})", [1, 2, 3]), "PARAMS-033", "(USA, 1111"),
    Case("unknown reader", setting("reader", "sas"), "PARAMS-034", "reader"),
    Case("the Bureau's reader", setting("reader", "cef"), "PARAMS-035", "reader", status=0),
    # release.toml.
    Case("release is not TOML", toml(("[columns]", "[columns")), "PARAMS-004", "release.toml"),
    Case("release has an unknown key", toml(("[columns]", "[columns]\nhair = 1")), "PARAMS-006", "columns.hair"),
    Case("release lacks a key", toml(('privacy = "zcdp"\n', "")), "PARAMS-007", "privacy"),
    Case("release of another format", toml(("safetab = 1", "safetab = 2")), "PARAMS-036", "safetab is 2"),
    Case("release has a wrong type", toml(('sex = "QSEX"', "sex = 3")), "PARAMS-008", "columns.sex"),
    Case("level with budget and MOE", toml(("moe_95 = 6", 'moe_95 = 6\nbudget = "1"')), "PARAMS-015", "level[0]"),
    Case("level with neither", toml(("moe_95 = 6\n", "")), "PARAMS-015", "level[0]"),
    Case("MOE of 0", toml(("moe_95 = 11", "moe_95 = 0")), "PARAMS-016", "level[2].moe_95 is 0"),
    Case("budget below 0", toml(("moe_95 = 11", 'budget = "-0.159"')), "PARAMS-010", 'level[2].budget is "-0.159"'),
    Case("age bins fall", toml(("[0, 18, 45, 65]", "[0, 45, 18, 65]")), "PARAMS-019", "ages"),
    Case("age bins leave out babies", toml(("[0, 18, 45, 65]", "[1, 18, 45, 65]")), "PARAMS-019", "ages"),
    Case("ages without their column", toml(('age = "QAGE"\n', "")), "PARAMS-065", "ages"),
    Case("a column of ages without bins", toml(("[ages]\n", "[ages_]\n")), "PARAMS-065", "columns.age"),
    Case("a sex without its values", toml(('sexes = ["1", "2"]\n', "")), "PARAMS-066", "columns"),
    Case(
        "one threshold for three lists",
        toml(("[471, 971, 6971]", "[471]")),
        "PARAMS-013",
        "level[0].thresholds is [471], for 3 stat levels",
    ),
    Case("four thresholds", toml(("[471, 971, 6971]", "[1, 2, 3, 4]")), "PARAMS-013", "level[0].thresholds"),
    Case("no thresholds", toml(("thresholds = [471, 971, 6971]\n", "")), "PARAMS-007", "level[0].thresholds"),
    Case("level of an unknown run", toml(('run = "us"', 'run = "uk"')), "PARAMS-020", "level[0].run"),
    Case(
        "level of an unknown geography",
        toml(('geography = "USA"', 'geography = "U"')),
        "PARAMS-021",
        "level[0].geography",
    ),
    Case("a level twice", toml(append=LEVEL_1), "PARAMS-022", "level[7]"),
    Case("a run without levels", toml(append='[[run]]\nname = "b"\nwhere.TABBLKST = ["72"]\n'), "PARAMS-023", "run[1]"),
    Case("a run with a bad name", toml(('name = "us"', 'name = "../us"')), "PARAMS-025", "run[0].name"),
    Case(
        "two runs of a name",
        toml(append='[[run]]\nname = "us"\nwhere.TABBLKST = ["72"]\n'),
        "PARAMS-025",
        "run[1].name",
    ),
    Case("runs that overlap", toml(append=SECOND_RUN % "01"), "PARAMS-026", "run[1].where"),
    Case(
        "runs that filter on different columns",
        toml(append=(SECOND_RUN % "777").replace("TABBLKST", "TABBLKCOU")),
        "PARAMS-026",
        "run[1].where",
    ),
    Case(
        "second run without filter",
        toml(append='[[run]]\nname = "b"\n' + LEVEL_1.replace('"us"', '"b"')),
        "PARAMS-026",
        "run[1].where",
    ),
    Case(
        "filter on a column outside the block", toml(("where.TABBLKST", "where.PLACEFP")), "PARAMS-027", "run[0].where"
    ),
    Case("geography without columns", toml(('columns = ["TABBLKST"]\n', "")), "PARAMS-028", "geography.STATE"),
    Case("columns without widths", toml(("TABBLKCOU = 3, ", "")), "PARAMS-029", "geography.COUNTY"),
    Case("absent speaks of another column", toml(("{ AIANNHCE =", "{ PLACEFP =")), "PARAMS-030", "geography.AIANNH"),
    Case("iteration level 0", toml(("iteration_level = 2", "iteration_level = 0")), "PARAMS-031", "level[0]"),
    Case(
        "geography nobody uses", toml(append='[geography.X]\nregion_id = "1"\n'), "PARAMS-037", "geography.X", status=0
    ),
    Case("a file name with a slash", toml(append='[files]\ncodes = "../codes.txt"\n'), "PARAMS-038", "files.codes"),
    Case(
        "a column named twice",
        toml(('["TABBLKST", "TABBLKCOU", ', '["TABBLKST", "TABBLKST", ')),
        "PARAMS-039",
        "columns.block",
    ),
    Case("an empty column name", toml(('age = "QAGE"', 'age = ""')), "PARAMS-040", "columns.age"),
    # Text tables in general, seen in the parameter files.
    Case("file missing", drop(MAPPING), "FILE-001", "race-and-ethnicity-code-to-iteration.txt"),
    Case("file empty", put(RACE, ""), "FILE-002", "race-characteristic-iterations.txt"),
    Case("file is only a mark", put(RACE, b"\xef\xbb\xbf"), "FILE-002", "race-characteristic-iterations.txt"),
    Case("not UTF-8", put(CODES, tiny.CODES.encode().replace(b"Alpine", b"Alp\xe9")), "FILE-003", "line 3"),
    Case("not UTF-8 and ragged", put(CODES, tiny.CODES.encode() + b"1|\xfe|2\n"), "FILE-003", "line 11"),
    Case("header not UTF-8", put(CODES, b"RACE_ETH_CODE|RACE_\xe9\n1|a\n"), "FILE-003", "line 1"),
    Case("separated by colons", put(CODES, tiny.CODES.replace("|", ":")), "FILE-031", "race-and-ethnicity-codes.txt"),
    Case(
        "commas where the release says semicolons",
        both(toml(append='[files]\ndelimiter = ";"\n'), put(CODES, tiny.CODES.replace("|", ","))),
        "FILE-031",
        "race-and-ethnicity-codes.txt, line 1 (with commas)",
    ),
    Case(
        "a header that fits two delimiters",
        put(MAPPING, "ITERATION_CODE|RACE_ETH_CODE,ITERATION_CODE;RACE_ETH_CODE\n1|2,1;2\n"),
        "FILE-030",
        "code-to-iteration.txt, line 1 (with bars and commas and semicolons)",
    ),
    Case(
        "a quote inside a field",
        put(CODES, tiny.CODES.replace("|", ",").replace("Alpine", 'Al"pine"')),
        "FILE-032",
        "race-and-ethnicity-codes.txt, line 3",
    ),
    Case(
        "a quote that is not closed",
        put(CODES, tiny.CODES.replace("|", ",").replace("Alpine", '"Alpine')),
        "FILE-032",
        "race-and-ethnicity-codes.txt, line 3",
    ),
    Case("quotes wrong in the header", put(CODES, '"RACE_ETH_CODE"x,NAME\n1,2\n'), "FILE-032", "codes.txt, line 1"),
    Case("colon separated records", put(RECORDS, "TABBLKST:QAGE\n"), "FILE-031", "person-records.txt"),
    Case("an unknown delimiter", toml(append='[files]\ndelimiter = ":"\n'), "PARAMS-060", 'files.delimiter is ":"'),
    Case(
        "a delimiter of an unknown file",
        toml(append='[files]\ndelimiter = { people = "," }\n'),
        "PARAMS-060",
        "files.delimiter",
    ),
    Case("an unknown quote", toml(append='[files]\nquote = "\'"\n'), "PARAMS-061", "files.quote"),
    Case(
        "a name column without columns",
        toml(('region_id = "1"', 'region_id = "1"\nname_column = "N"')),
        "PARAMS-062",
        "geography.USA",
    ),
    Case("a code list and its compressed twin", put(CODES + ".gz", b""), "FILE-015", "race-and-ethnicity-codes.txt"),
    Case("column missing", swap(RACE, "|ALONE|", "|LONE|"), "FILE-005", "ALONE"),
    Case("column twice", swap(ETHNICITY, "ITERATION_NAME", "LEVEL"), "FILE-006", "LEVEL"),
    Case("field missing", swap(RACE, "|True|True|False", "|True|True"), "FILE-007", "line 7"),
    Case("field too many", swap(MAPPING, "1001|1020", "1001|1020|"), "FILE-007", "line 5"),
    Case("blank line inside", swap(CODES, "1020|", "\n1020|"), "FILE-008", "line 4"),
    Case("value missing", swap(RACE, "|Alpine alone|", "||"), "FILE-009", "ITERATION_NAME, line 5"),
    Case("only a header", put(MAPPING, "ITERATION_CODE|RACE_ETH_CODE\n"), "FILE-010", "code-to-iteration.txt"),
    Case(
        "only a header, no line end", put(MAPPING, "ITERATION_CODE|RACE_ETH_CODE"), "FILE-010", "code-to-iteration.txt"
    ),
    Case("UTF-16", put(CODES, tiny.CODES.encode("utf-16-le")), "FILE-017", "race-and-ethnicity-codes.txt"),
    # Group definitions.
    Case("a code twice", add(CODES, "1010|Alpine again"), "GROUPS-001", "line 11"),
    Case("a short code", swap(CODES, "9999|", "999|"), "GROUPS-002", "RACE_ETH_CODE, line 7"),
    Case("an iteration twice", add(RACE, "2001|Alpine again|2|True|False|False"), "GROUPS-003", "line 13"),
    Case("race and ethnicity iterations overlap", swap(ETHNICITY, "4001|", "2001|"), "GROUPS-003", "ethnicity-char"),
    Case("an iteration without codes", add(RACE, "2099|Empty|2|False|False|False"), "GROUPS-004", "line 13"),
    Case("a code that is not listed", add(MAPPING, "2001|7777"), "GROUPS-005", "line 21"),
    Case("an iteration that is not defined", add(MAPPING, "7777|1020"), "GROUPS-006", "line 21"),
    Case("a mapping twice", add(MAPPING, "2001|1010"), "GROUPS-007", "line 21"),
    Case("both flags", swap(RACE, "|True|True|False", "|True|True|True"), "GROUPS-008", "line 7"),
    Case("level 0 with flags", swap(RACE, "|0|True|Null|Null", "|0|True|False|False"), "GROUPS-009", "line 2"),
    Case("level 1 without flags", swap(RACE, "|1|True|False|False", "|1|True|Null|Null"), "GROUPS-009", "line 3"),
    Case("a flag in lower case", swap(RACE, "|1|True|False|False", "|1|true|False|False"), "GROUPS-010", "line 3"),
    Case("a level nobody tabulates", swap(ETHNICITY, "|2|False", "|3|False"), "GROUPS-011", "LEVEL, line 3"),
    Case("a level that is no number", swap(ETHNICITY, "|2|False", "|two|False"), "GROUPS-011", "LEVEL, line 3"),
    Case("a code in two groups", add(MAPPING, "2001|3000", "2003|1010"), "GROUPS-012", "2 codes: 1010, 3000"),
    Case(
        "a code in two ethnicity groups",
        both(add(ETHNICITY, "4003|Iberian|2|False|False"), add(MAPPING, "4003|2000")),
        "GROUPS-012",
        "ethnicity",
    ),
    Case(
        "a level with no iterations",
        lambda f: f.update(
            {
                RACE: tiny.RACE.replace("|1|True|", "|2|True|").replace("|1|False|", "|2|False|"),
                ETHNICITY: tiny.ETHNICITY.replace("|1|False|", "|2|False|"),
                MAPPING: tiny.MAPPING.replace("2001|1010\n", "2001|1000\n").replace("2002|1010\n", "2002|1000\n"),
            }
        ),
        "GROUPS-013",
        "(USA, 1)",
        status=0,
    ),
    # Labels and sizes.
    Case("a bar in a sex", toml(('sexes = ["1", "2"]', 'sexes = ["1", "2|3"]')), "PARAMS-041", "columns.sexes[1]"),
    Case("a quote in a sex", toml(('sexes = ["1", "2"]', "sexes = ['1\"', '2']")), "PARAMS-041", "columns.sexes[0]"),
    Case(
        "a line end in a sex", toml(('sexes = ["1", "2"]', 'sexes = ["1\\n", "2"]')), "PARAMS-041", "columns.sexes[0]"
    ),
    Case("a bar in a region id", toml(('region_id = "1"', 'region_id = "|"')), "PARAMS-041", "geography.USA.region_id"),
    Case("a line end in a column", toml(('age = "QAGE"', 'age = "Q\\nAGE"')), "PARAMS-042", "columns.age"),
    Case("a NUL in no_code", toml(('no_code = "Null"', 'no_code = "\\u0000"')), "PARAMS-042", "columns.no_code"),
    *(
        Case(
            f"a geography level named {name}",
            toml(append=f"\n[geography.{name}]\nregion_id = '1'\n"),
            "PARAMS-043",
            place,
        )
        for name, place in (
            ('""', 'geography."" is ""'),
            ('"A|B"', "geography.A|B"),
            ('"A/B"', "geography.A/B"),
            ('"A\\nB"', 'geography."A\\nB"'),
        )
    ),
    Case("columns that differ in capitals", toml(('sex = "QSEX"', 'sex = "qage"')), "PARAMS-044", '"QAGE" and "qage"'),
    Case(
        "1,001 sexes", toml(('sexes = ["1", "2"]', f"sexes = {[str(n) for n in range(1001)]}")), "PARAMS-045", "sexes"
    ),
    Case("a very long name of a run", toml(('name = "us"', f'name = "{"x" * 101}"')), "PARAMS-025", "run[0].name"),
    Case("a very long file name", toml(append=f'\n[files]\ncodes = "{"x" * 201}"\n'), "PARAMS-038", "files.codes"),
    Case("a NUL in a file name", toml(append='\n[files]\ncodes = "a\\u0000"\n'), "PARAMS-038", "files.codes"),
    Case("a quote in an iteration code", swap(RACE, "2003|", '"003|'), "GROUPS-014", "ITERATION_CODE, line 7"),
    Case("a tab in a code", swap(CODES, "9999|", "9\t99|"), "GROUPS-014", "RACE_ETH_CODE, line 7"),
    Case("a NUL in a code", swap(CODES, "9999|", "9\x0099|"), "GROUPS-014", "RACE_ETH_CODE, line 7"),
    Case("no code is a code", swap(CODES, "9999|", "Null|"), "GROUPS-015", "RACE_ETH_CODE, line 7"),
    Case("too many codes", add(CODES, *(f"{n:04x}x|" for n in range(32_767))), "GROUPS-016", "32,776 codes"),
    Case(
        "too many iterations",
        add(RACE, *(f"{n:04x}x|x|2|True|False|False" for n in range(32_767))),
        "GROUPS-016",
        "32,781 iterations",
    ),
    Case("a quote in a region", swap(GRF, "|0010|x", '|"010|x'), "GEO-006", "AIANNHCE, line 3"),
    Case("a bar in a region", parquet(replaced("AIANNHCE", "0010", "0|10")), "GEO-006", "AIANNHCE, rows 2, 4"),
    Case("a line end in a region", parquet(replaced("AIANNHCE", "0010", "0\n10")), "GEO-006", "AIANNHCE"),
    Case(
        "two names of a region",
        toml(('columns = ["TABBLKST"]', 'columns = ["TABBLKST"]\nname_column = "TABTRACTCE"')),
        "GEO-010",
        "TABTRACTCE, line",
    ),
    # The geography file.
    Case("no data folder", drop(GRF), "FILE-001", "data (the data folder)"),
    Case("no geography file", both(drop(GRF), put("data/readme", "")), "FILE-001", "GRF-C.txt"),
    Case("geography column missing", swap(GRF, "AIANNHCE", "AIANNH"), "FILE-005", "AIANNHCE"),
    Case("geography value missing", swap(GRF, "|000200|", "||"), "FILE-009", "TABTRACTCE, line 4"),
    Case("lost leading zeros", swap(GRF, "|000200|", "|200|"), "GEO-001", "TABTRACTCE, line 4"),
    Case("a block twice", add(GRF, "01|003|000200|1000|99999|9999|x"), "GEO-002", "line 8"),
    Case("no blocks in Puerto Rico", swap(GRF, "72|001|000100|1000|00100|9999|x\n", ""), "GEO-003", "run pr"),
    Case(
        "a level without regions",
        swap(GRF, "72|001|000100|1000|00100", "72|001|000100|1000|99999"),
        "GEO-004",
        "PR-PLACE",
        status=0,
    ),
    Case("a state without blocks", setting("state_filter_us", ["01", "02", "04"]), "GEO-005", "run us", status=0),
    Case("a state in no run", add(GRF, "09|001|000100|1000|99999|9999|x"), "GEO-007", "TABBLKST is 03, 09", status=0),
    Case("text and Parquet at once", put("data/GRF-C.parquet", b""), "FILE-015", "GRF-C.txt"),
    Case("not Parquet", both(drop(GRF), put("data/GRF-C.parquet", b"PAR1 no")), "FILE-012", "GRF-C.parquet"),
    Case("Parquet cut off", both(parquet(lambda t: t), cut_off), "FILE-012", "GRF-C.parquet"),
    Case("Parquet with nulls", parquet(null_state), "FILE-013", "TABBLKST"),
    Case("Parquet with fractions", parquet(as_float), "FILE-014", "TABBLKST, rows 1, 2"),
    Case("Parquet without a column", parquet(lambda t: t.drop_columns(["TABBLK"])), "FILE-005", "TABBLK"),
    Case("Parquet without rows", parquet(lambda t: t.slice(0, 0)), "FILE-010", "GRF-C.parquet"),
    Case("Parquet parts that differ", both(parquet(lambda t: t), two_parts), "FILE-016", "TABBLKST"),
    Case(
        "Parquet folder without parts",
        both(drop(GRF), put("data/GRF-C.parquet/readme.txt", "x")),
        "FILE-002",
        "GRF-C.parquet",
    ),
    Case("a note among the parts", both(parquet(lambda t: t), a_note), "FILE-020", "deep/note.txt"),
    Case(
        "compressed and cut off", both(drop(GRF), put(f"{GRF}.gz", gzip.compress(b"A|B")[:-4])), "FILE-021", "GRF-C.txt"
    ),
    Case("bzip2", both(drop(GRF), put(f"{GRF}.bz2", bz2.compress(b"A|B"))), "FILE-021", "GRF-C.txt.bz2"),
    Case("bzip2, and not named so", put(GRF, bz2.compress(b"A|B")), "FILE-021", "GRF-C.txt"),
    Case("xz", both(drop(GRF), put(f"{GRF}.xz", lzma.compress(b"A|B"))), "FILE-021", "GRF-C.txt.xz"),
    Case("xz, and not named so", put(GRF, lzma.compress(b"A|B")), "FILE-021", "GRF-C.txt"),
    Case("compressed, and not named so", put(GRF, gzip.compress(b"A|B")), "FILE-021", "GRF-C.txt"),
]


def test_the_table_is_as_long_as_promised() -> None:
    assert len(CASES) >= 60
    assert len({case.name for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_broken_input_is_reported(case: Case, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = tiny.files()
    case.breaking(files)
    tiny.write(tmp_path, files)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    status = main(["check", str(tmp_path / "params"), str(tmp_path / "data"), "--json"])
    output = capsys.readouterr()
    findings = json.loads(output.out)["findings"]
    assert status == case.status, findings
    assert case.code in {finding["code"] for finding in findings}
    main(["check", str(tmp_path / "params"), str(tmp_path / "data")])
    told = " ".join(capsys.readouterr().err.split())
    assert case.code in told
    assert case.place in told
    assert "Traceback" not in told
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}


def catalogue() -> list[Rule]:
    modules = (file_rules, release_rules, group_rules, geography_rules)
    return [rule for module in modules for rule in vars(module).values() if isinstance(rule, Rule)]


def test_every_rule_is_in_the_table() -> None:
    # FILE-011 needs a file that cannot be read, which a table of contents cannot say; it has its own test below.
    # FILE-018, FILE-019 and FILE-022 are about records: tests/cli/test_broken_records.py.
    # FILE-033 is about tables in memory: tests/property/test_tables_in_memory.py.
    # GROUPS-020 to GROUPS-024, PARAMS-063 and PARAMS-064 are about other commands: tests/cli/test_init_own_files.py.
    untested = {rule.code for rule in catalogue()} - {case.code for case in CASES}
    untested -= {"FILE-011", "FILE-018", "FILE-019", "FILE-022", "FILE-033"}
    untested -= {"GROUPS-020", "GROUPS-021", "GROUPS-022", "GROUPS-023", "GROUPS-024", "PARAMS-063", "PARAMS-064"}
    assert not untested


def test_warnings_do_not_fail_and_errors_do() -> None:
    severity = {rule.code: rule.severity for rule in [*catalogue(), LAW_FITS]}
    for case in CASES:
        assert (severity[case.code] is Severity.ERROR) == (case.status == 1), case.name


def test_a_folder_in_place_of_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tiny.write(tmp_path, tiny.files())
    (tmp_path / CODES).unlink()
    (tmp_path / CODES).mkdir()
    assert main(["check", str(tmp_path / "params")]) == 1
    assert "FILE-011" in capsys.readouterr().err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_file_without_permission(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tiny.write(tmp_path, tiny.files())
    (tmp_path / CODES).chmod(0)
    assert main(["check", str(tmp_path / "params")]) == 1
    assert "FILE-011" in capsys.readouterr().err


def test_all_faults_are_reported_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = tiny.files()
    for breaking in (
        setting("surprise", 1),
        without("privacy_budget_p_level_2_tract"),
        threshold("(COUNTY, 2)", [9, 8, 7]),
        setting("privacy_budget_p_level_1_usa", -1),
        setting("privacy_budget_p_level_1_state", "much"),
        setting("privacy_budget_p_stage_1_fraction", 2),
    ):
        # threshold() starts from the sound thresholds, so it must not come after another change to them.
        breaking(files)
    tiny.write(tmp_path, files)
    assert main(["check", str(tmp_path / "params"), "--json"]) == 1
    codes = {finding["code"] for finding in json.loads(capsys.readouterr().out)["findings"]}
    assert {"PARAMS-006", "PARAMS-007", "PARAMS-014", "PARAMS-010", "PARAMS-009", "PARAMS-011"} <= codes
