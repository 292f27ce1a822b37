"""`safetab.verify(OUT)`: is a published release what it says?

In: the folder of a release, perhaps its parameters and the publisher's public key. Out: a `VerifyReport` with
everything that is wrong. The promise: files are compared with their hashes first, and nothing is concluded from a file
that was changed; then the ledger, the dictionary and the tables are recomputed as far as OUT allows.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from safetab.arguments import as_path
from safetab.errors import Finding, InputError
from safetab.files.seals import LEDGER_FILE, read_public_key
from safetab.reading.opened import DICTIONARY_FILE, Opened
from safetab.rules import seal_rules, usage_rules
from safetab.rules.labels import one_line
from safetab.verifying.cells import Cells
from safetab.verifying.content import UnreadableError, content_of
from safetab.verifying.domain import Detail, RunDomain
from safetab.verifying.parameters import check_parameters
from safetab.verifying.sealed import check_files, check_signature, read_ledger
from safetab.verifying.spending import check_counts, check_release
from safetab.verifying.texts import check_text
from safetab.verifying.totals import Totals, check_detail, check_estimates, check_keys, check_precision

_TABLES = ("t1", "t2")


@dataclass(frozen=True, slots=True, repr=False)
class VerifyReport:
    """What was found in a release, and what was compared."""

    folder: Path
    findings: tuple[Finding, ...]
    files: int = 0
    rows: int = 0
    #: The public key that signed the release, as hexadecimal text; None: it is not signed.
    signing_key: str | None = None
    #: Whether the signature was compared with a key that the caller trusts, and the parameters with the ledger.
    key_compared: bool = False
    parameters_compared: bool = False

    def __repr__(self) -> str:
        findings = len(self.findings)
        found = "sound" if self.is_sound else "1 finding" if findings == 1 else f"{findings} findings"
        return f"VerifyReport({str(self.folder)!r}, {found}, {self.files} files, {self.rows:,} rows)"

    @property
    def is_sound(self) -> bool:
        """Whether nothing is wrong."""
        return not self.findings

    def as_json(self) -> dict[str, Any]:
        return {
            "is_sound": self.is_sound,
            "findings": [finding.as_json() for finding in self.findings],
            "files": self.files,
            "rows": self.rows,
            "signing_key": self.signing_key,
            "key_compared": self.key_compared,
            "parameters_compared": self.parameters_compared,
        }


def verify(out: str | Path, *, params: str | Path | None = None, key: str | Path | None = None) -> VerifyReport:
    """Compare a release with its hashes, with itself, and with `params` and the public `key` where they are named."""
    folder = as_path(out, "out")
    params = None if params is None else as_path(params, "params")
    key = None if key is None else as_path(key, "key")
    if not (folder / LEDGER_FILE).is_file():
        raise InputError(Finding(usage_rules.NOT_A_RELEASE, str(folder)), "")
    public = None if key is None else read_public_key(key)
    findings: list[Finding] = []
    ledger = read_ledger(folder, findings)
    if ledger is None:
        return VerifyReport(folder, tuple(findings))
    signer = ledger["signing_key"] or None
    findings += check_files(folder, ledger)
    findings += check_signature(folder, ledger, public)
    if not findings and params is not None:
        findings += _readable(lambda: check_parameters(params, ledger, _dictionary(folder)))
    if not findings:
        findings += _readable(lambda: _check_content(folder, ledger))
    return VerifyReport(
        folder,
        tuple(_in_one_line(finding) for finding in findings),
        files=len(ledger["outputs"]) + (3 if signer else 2),
        rows=_rows(ledger) if not findings else 0,
        signing_key=one_line(str(signer)) if signer else None,
        key_compared=public is not None,
        parameters_compared=params is not None,
    )


def _in_one_line(finding: Finding) -> Finding:
    """A finding that a terminal prints as it is: files and keys may have any name in a release that somebody forged."""
    return replace(finding, file=one_line(finding.file), key=one_line(finding.key), seen=one_line(finding.seen))


def _readable(check: Callable[[], Iterable[Finding]]) -> list[Finding]:
    """The findings of a check; one more where a file cannot be made sense of at all."""
    found: list[Finding] = []
    try:
        with content_of(LEDGER_FILE):
            found.extend(check())
    except UnreadableError as error:
        found.append(Finding(seal_rules.UNREADABLE, error.file, seen=error.seen))
    return found


def _dictionary(folder: Path) -> dict[str, Any]:
    with content_of(DICTIONARY_FILE):
        found: dict[str, Any] = json.loads((folder / DICTIONARY_FILE).read_text(encoding="utf-8"))
    return found


def _rows(ledger: Mapping[str, Any]) -> int:
    return sum(run["rows"][name] for run in ledger["runs"] for name in _TABLES)


def _check_content(folder: Path, ledger: Mapping[str, Any]) -> Iterator[Finding]:
    """What is wrong in files whose hashes fit. A step is left out where one that it builds on found faults."""
    stems = {
        run["name"]: run["name"] if ledger["is_private"] else f"{run['name']}.NOT-PRIVATE" for run in ledger["runs"]
    }
    expected = {DICTIONARY_FILE}
    for stem in stems.values():
        expected |= {f"{name}/{stem}.csv" for name in _TABLES}
        expected |= {f"parquet/{name}/{stem}.parquet" for name in (*_TABLES, "geography")}
    if expected != set(ledger["outputs"]):
        yield from (Finding(seal_rules.MISSING_FILE, name) for name in sorted(expected - set(ledger["outputs"])))
        yield from (Finding(seal_rules.ADDED_FILE, name) for name in sorted(set(ledger["outputs"]) - expected))
        return
    release = Opened(folder)
    with content_of(DICTIONARY_FILE):
        _read_dictionary(release)
    domains = [RunDomain(release, run) for run in ledger["runs"]]
    for domain in domains:
        with content_of(f"parquet/geography/{stems[domain.name]}.parquet"):
            _ = release.regions_of_run(domain.name).levels, domain.regions
    found = [*check_release(ledger, domains), *_check_dictionary(release, stems)]
    yield from found
    if not found:
        for number, domain in enumerate(domains):
            yield from _check_run(domain, folder, stems[domain.name], f"runs[{number}]")


def _read_dictionary(release: Opened) -> None:
    """Read what the other steps need of the dictionary, so that what it lacks is not found in another file."""
    Detail.of(release.dictionary)
    _ = release.groups, release.region_names, release.dictionary["max_race_codes"], release.dictionary["iterations"]
    for name in _TABLES:
        for entry in release.dictionary[name]["columns"]:
            _ = entry["name"], entry["type"], entry["in_text_file"]


def _check_dictionary(release: Opened, stems: Mapping[str, str]) -> Iterator[Finding]:
    """The dictionary names the columns of the Parquet files, and regions that there are."""
    for name in _TABLES:
        described = [(entry["name"], entry["type"]) for entry in release.dictionary[name]["columns"]]
        for stem in stems.values():
            file = f"parquet/{name}/{stem}.parquet"
            with content_of(file):
                schema = pq.read_schema(release.folder / file)
            if described != [(field.name, str(field.type)) for field in schema]:
                yield Finding(seal_rules.DICTIONARY, DICTIONARY_FILE, key=f"{name}.columns")
    if set(release.dictionary["groups"]) != set(release.dictionary["iterations"]):
        yield Finding(seal_rules.DICTIONARY, DICTIONARY_FILE, key="groups")
    known = {(region.type, region.id) for region in release.regions}
    named = {(kind, region) for kind, names in release.region_names.items() for region in names}
    if not named <= known:
        yield Finding(seal_rules.DICTIONARY, DICTIONARY_FILE, key="regions")


def _check_run(domain: RunDomain, folder: Path, stem: str, place: str) -> Iterator[Finding]:
    """The tables of one run."""
    tables, names = {}, {}
    for name in _TABLES:
        names[name] = f"parquet/{name}/{stem}.parquet"
        with content_of(names[name]):
            tables[name] = pq.read_table(folder / names[name])
        if tables[name].num_rows != domain.entry["rows"][name]:
            seen = f"{tables[name].num_rows:,} rows"
            yield Finding(seal_rules.NUMBER_OF_ROWS, names[name], seen=seen)
        columns = domain.release.dictionary[name]["columns"]
        in_text = [entry["name"] for entry in columns if entry["in_text_file"]]
        text = f"{name}/{stem}.csv"
        with content_of(text):
            yield from check_text(folder / text, folder / names[name], in_text, text)
    with content_of(names["t1"]):
        totals = Totals.of(domain, tables["t1"], names["t1"])
        found = [*check_keys(totals), *check_detail(totals)]
    yield from found
    cells = Cells(totals, tables["t2"], names["t2"])
    if not found and cells.expected_rows != tables["t2"].num_rows:
        seen = f"{tables['t2'].num_rows:,} rows, and {cells.expected_rows:,} cells and sums"
        found = [Finding(seal_rules.CELLS, names["t2"], seen=seen)]
        yield from found
    if found:
        return
    with content_of(names["t2"]):
        yield from cells.check_keys()
        yield from cells.check_sums()
        yield from cells.check_numbers()
    with content_of(names["t1"]):
        yield from check_precision(totals)
        yield from check_estimates(totals, cells.all_positive())
    yield from check_counts(domain, _tables_of(totals), place)


def _tables_of(totals: Totals) -> dict[tuple[int, int], int]:
    """How many groups of each level have each stat level above 0."""
    found: dict[tuple[int, int], int] = {}
    for number in range(len(totals.domain.levels)):
        here = totals.stat_level[totals.level == number]
        for stat_level in range(1, int(here.max(initial=0)) + 1):
            found[number, stat_level] = int((here == stat_level).sum())
    return found
