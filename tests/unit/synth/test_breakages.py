"""Every breakage is caught by its rule, and every rule has a breakage."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa
import pytest

from safetab.errors import Rule
from safetab.pipeline.check import check_inputs
from safetab.rules import file_rules, geography_rules, group_rules, record_rules, release_rules
from safetab.synth.breakages.catalogue import BREAKAGES, find_breakage
from safetab.synth.breakages.person_records import BREAKAGES as RECORD_BREAKAGES
from safetab.synth.breakages.site import RECORDS_STEM, Breakage, Site
from safetab.synth.breakages.tables import BREAKAGES as TABLE_BREAKAGES
from safetab.synth.write_data import Format

#: Breakages of the whole file, which a first row cannot show.
OF_THE_FILE = {"no-records", "mixed-line-ends", "swallowed-record", "unread-column"}
RACE = [f"QRACE{number}" for number in range(1, 9)]


def broken(breakage: Breakage, sound: Path, folder: Path, table_format: Format) -> Site:
    shutil.copytree(sound, folder)
    site = Site(folder, table_format, ("04",), has_puerto_rico=True)
    breakage.apply(site)
    return site


@pytest.mark.parametrize("breakage", BREAKAGES, ids=lambda breakage: breakage.name)
def test_check_finds_the_fault(breakage: Breakage, few_groups: Path, tmp_path: Path) -> None:
    site = broken(breakage, few_groups, tmp_path / "x", Format.PARQUET)
    found = {finding.rule.code for finding in check_inputs(site.params, site.data).findings}
    assert breakage.code in found


@pytest.mark.parametrize("breakage", [*TABLE_BREAKAGES, *RECORD_BREAKAGES], ids=lambda breakage: breakage.name)
def test_check_finds_the_fault_in_text(breakage: Breakage, few_groups_text: Path, tmp_path: Path) -> None:
    site = broken(breakage, few_groups_text, tmp_path / "x", Format.TEXT)
    found = {finding.rule.code for finding in check_inputs(site.params, site.data).findings}
    assert breakage.code in found


def test_every_rule_of_the_files_has_a_breakage() -> None:
    modules = (file_rules, release_rules, group_rules, geography_rules, record_rules)
    codes = {rule.code for module in modules for rule in vars(module).values() if isinstance(rule, Rule)}
    # Left over for text that an engine refuses without any line of it being wrong; for names of files that Spark alone
    # passes over; and the engine's own failures.
    codes -= {record_rules.NOT_A_TABLE.code, record_rules.PASSED_OVER.code} | {
        code for code in codes if code.startswith("MACHINE")
    }
    # About tables in memory, about tables that `safetab init` alone reads, and about two releases at once.
    codes -= {file_rules.NOT_ARROW.code, group_rules.CODE_ON_TWO_LINES.code, group_rules.TWO_NAMES.code}
    codes -= {group_rules.NO_GROUP_OF_CODES.code, group_rules.NO_GROUP_SPELLING.code, group_rules.NO_GROUPS_LEFT.code}
    codes -= {release_rules.EQUAL_RELEASES.code, release_rules.DIFFERENT_RELEASES.code}
    assert codes == {breakage.code for breakage in BREAKAGES}


def test_every_name_appears_once() -> None:
    assert len({breakage.name for breakage in BREAKAGES}) == len(BREAKAGES)


def test_a_breakage_is_found_by_name_and_by_rule() -> None:
    assert find_breakage("overlap") is find_breakage("GROUPS-012") is find_breakage("groups-012")
    assert find_breakage("nonsense") is None


def first_row(site: Site) -> dict[str, str]:
    table = site.read_table(site.part_files(RECORDS_STEM)[0])
    return {name: table[name][:1].cast(pa.string()).to_pylist()[0] for name in table.column_names}


def holds(name: str, row: dict[str, str], site: Site) -> bool:
    """Whether a record has the fault that the breakage of this name makes."""
    codes = [row[column] for column in RACE]
    known = {line.split("|")[0] for line in site.lines("race-and-ethnicity-codes.txt")}
    given = [code for code in codes if code != "Null"]
    judged: dict[str, bool] = {
        "age-out-of-range": row["QAGE"] == "116",
        "age-not-a-number": not row["QAGE"].isdigit(),
        "bad-sex": row["QSEX"] not in {"1", "2"},
        "unknown-block": row["TABBLK"] == "9999",
        "lost-zeros": len(row["TABTRACTCE"]) < 6,
        "unknown-code": not set(given) <= known,
        "code-after-null": codes[1] == "Null" and codes[2] != "Null",
        "too-many-codes": len(given) > site.config()["max_race_codes"],
        "no-race-code": not given,
        "unknown-ethnicity": row["QSPAN"] not in known,
    }
    return judged[name]


@pytest.mark.parametrize("table_format", list(Format))
@pytest.mark.parametrize(
    "breakage", [one for one in RECORD_BREAKAGES if one.name not in OF_THE_FILE], ids=lambda breakage: breakage.name
)
def test_the_records_hold_the_fault(
    breakage: Breakage, table_format: Format, few_groups: Path, few_groups_text: Path, tmp_path: Path
) -> None:
    sound = few_groups if table_format is Format.PARQUET else few_groups_text
    site = broken(breakage, sound, tmp_path / "x", table_format)
    assert holds(breakage.name, first_row(site), site)
