"""Every deliberate fault is caught by its rule, and every rule has a fault."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from safetab.checks.inputs import check_inputs
from safetab.engines import rules as record_rules
from safetab.errors import Rule, UsageError
from safetab.files import rules as file_rules
from safetab.params import rules as params_rules
from safetab.population import rules as population_rules
from safetab.synth.faults import records
from safetab.synth.faults.catalogue import FAULTS, find_fault
from safetab.synth.faults.site import Fault, Site, read_lines
from safetab.synth.faults.tables import FAULTS as TABLE_FAULTS
from safetab.synth.records import RECORDS_STEM, Format

RECORD_FAULTS = records.FAULTS
#: Faults of the whole file, which a first row cannot show.
OF_THE_FILE = {"no-records", "mixed-line-ends", "unread-column"}
RACE = [f"QRACE{number}" for number in range(1, 9)]


def broken(fault: Fault, sound: Path, folder: Path, table_format: Format) -> Site:
    shutil.copytree(sound, folder)
    site = Site(folder, table_format, ("04",), has_puerto_rico=True)
    fault.make(site)
    return site


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_check_finds_the_fault(fault: Fault, few_groups: Path, tmp_path: Path) -> None:
    site = broken(fault, few_groups, tmp_path / "x", Format.PARQUET)
    found = {finding.rule.code for finding in check_inputs(site.params, site.data).findings}
    assert fault.code in found


@pytest.mark.parametrize("fault", [*TABLE_FAULTS, *RECORD_FAULTS], ids=lambda fault: fault.name)
def test_check_finds_the_fault_in_text(fault: Fault, few_groups_text: Path, tmp_path: Path) -> None:
    site = broken(fault, few_groups_text, tmp_path / "x", Format.TEXT)
    found = {finding.rule.code for finding in check_inputs(site.params, site.data).findings}
    assert fault.code in found


def test_every_rule_of_the_files_has_a_fault() -> None:
    modules = (file_rules, params_rules, population_rules, record_rules)
    codes = {rule.code for module in modules for rule in vars(module).values() if isinstance(rule, Rule)}
    # Left over for text that an engine refuses without any line of it being wrong; for names of files that Spark alone
    # passes over; and the engine's own failures.
    codes -= {record_rules.NOT_A_TABLE.code, record_rules.PASSED_OVER.code} | {
        code for code in codes if code.startswith("MACHINE")
    }
    assert codes == {fault.code for fault in FAULTS}


def test_names_stand_once() -> None:
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)


def test_a_fault_is_found_by_name_and_by_rule() -> None:
    assert find_fault("overlap") is find_fault("GROUPS-012") is find_fault("groups-012")
    with pytest.raises(UsageError):
        find_fault("nonsense")


def first_row(site: Site) -> dict[str, str]:
    part = site.parts(RECORDS_STEM)[0]
    table = pq.read_table(part) if site.table_format is Format.PARQUET else read_lines(part)
    return {name: table[name][:1].cast(pa.string()).to_pylist()[0] for name in table.column_names}


def holds(name: str, row: dict[str, str], site: Site) -> bool:
    """Whether a record has the fault of this name."""
    codes = [row[column] for column in RACE]
    known = {line.split("|")[0] for line in site.lines("race-and-ethnicity-codes.txt")}
    given = [code for code in codes if code != "Null"]
    judged: dict[str, bool] = {
        "age-out-of-range": row["QAGE"] == "116",
        "age-not-a-number": not row["QAGE"].isdigit(),
        "bad-sex": row["QSEX"] not in {"1", "2"},
        "unknown-block": row["TABBLK"] == "9999",
        "unknown-code": not set(given) <= known,
        "code-after-null": codes[1] == "Null" and codes[2] != "Null",
        "too-many-codes": len(given) > site.config()["max_race_codes"],
        "no-race-code": not given,
        "unknown-ethnicity": row["QSPAN"] not in known,
    }
    return judged[name]


@pytest.mark.parametrize("table_format", list(Format))
@pytest.mark.parametrize(
    "fault", [fault for fault in RECORD_FAULTS if fault.name not in OF_THE_FILE], ids=lambda fault: fault.name
)
def test_the_records_hold_the_fault(
    fault: Fault, table_format: Format, few_groups: Path, few_groups_text: Path, tmp_path: Path
) -> None:
    sound = few_groups if table_format is Format.PARQUET else few_groups_text
    site = broken(fault, sound, tmp_path / "x", table_format)
    assert holds(fault.name, first_row(site), site)
