"""Every key of every JSON output is on the reference page, with the kind of value that it has."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import pytest

from safetab.cli.main import main
from tests.worlds import readable, seals
from tests.worlds.merovia import MEROVIA
from tools import json_keys
from tools.json_keys import OUTPUTS

#: Places below which the release chooses the names.
CHOSEN_NAMES = {
    "runs[].regions",
    "dp_accounting",
    "runs[].rows",
    "inputs.parameters",
    "inputs.geography",
    "iterations",
    "regions",
    "regions.*",
    "groups",
    "age_starts",
    "outputs",
}


def places(value: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Every place in a JSON value with what is there."""
    if isinstance(value, dict):
        for key, inner in value.items():
            name = "*" if place in CHOSEN_NAMES else key
            here = f"{place}.{name}" if place else name
            yield here, inner
            yield from places(inner, here)
    elif isinstance(value, list):
        for inner in value:
            yield from places(inner, f"{place}[]")


def kinds(value: Any) -> set[str]:
    """The kinds of value on the page that this value may be called."""
    if value is None:
        return {"null"}
    if isinstance(value, bool):
        return {json_keys.SWITCH}
    if isinstance(value, int):
        return {json_keys.WHOLE, json_keys.NUMBER}
    if isinstance(value, float):
        return {json_keys.NUMBER}
    if isinstance(value, str):
        return {json_keys.TEXT, json_keys.DECIMAL} if _is_decimal(value) else {json_keys.TEXT}
    return {json_keys.LIST if isinstance(value, list) else json_keys.OBJECT}


def _is_decimal(text: str) -> bool:
    try:
        return Decimal(text).is_finite()
    except InvalidOperation:
        return False


def printed(words: list[str], capsys: pytest.CaptureFixture[str], status: int = 0) -> Any:
    assert main(words) == status
    return json.loads(capsys.readouterr().out)


def compare(name: str, contents: list[Any]) -> None:
    """Together the contents have exactly the keys of the page, and values of the kinds that it says."""
    (output,) = [one for one in OUTPUTS if one.name == name]
    found: dict[str, list[Any]] = {}
    for content in contents:
        for place, value in places(content):
            found.setdefault(place, []).append(value)
    assert sorted(found) == sorted(output.keys)
    for place, values in found.items():
        kind = output.keys[place][0]
        allowed = {kind.removesuffix(json_keys.OR_NULL)} | ({"null"} if kind.endswith(json_keys.OR_NULL) else set())
        for value in values:
            assert kinds(value) & allowed, (place, value)


def with_geometric_noise(folder: Path) -> Path:
    shutil.copytree(MEROVIA, folder)
    release = folder / "params" / "release.toml"
    release.write_text(release.read_text(encoding="utf-8").replace('"zcdp"', '"puredp"'), encoding="utf-8")
    return folder


def name_the_provinces(world: Path) -> None:
    """Give the provinces of a copy of Merovia names: their ids."""
    release = world / "params" / "release.toml"
    text = release.read_text(encoding="utf-8")
    assert 'columns = ["PROVINCE"]' in text
    named = text.replace('columns = ["PROVINCE"]', 'columns = ["PROVINCE"]\nname_column = "PROVINCE"', 1)
    release.write_text(named, encoding="utf-8")


def test_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    reports = [printed(["check", str(MEROVIA / "params"), str(MEROVIA / "data"), "--json"], capsys)]
    for breakage in ("repeated-block", "ragged-line"):
        folder = tmp_path / breakage
        assert main(["synth", str(folder), "--like", "tiny", "--break", breakage]) == 0
        capsys.readouterr()
        reports.append(printed(["check", str(folder / "params"), str(folder / "data"), "--json"], capsys, status=1))
    compare("safetab check --json", reports)
    assert {next(iter(report.items())) for report in reports} == {("format", "safetab check 1")}


def test_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Every way to fail, of every command with --json: JSON on standard output, words on standard error."""
    merovia, out = str(MEROVIA / "params"), str(tmp_path / "out")
    wrong: list[tuple[list[str], int]] = [
        (["account", merovia, "--delta", "0", "--json"], 2),
        (["account", str(tmp_path / "nowhere"), "--json"], 1),
        (["calibrate", merovia, "--moe", "COUNTRY,2=0", "--json"], 2),
        (["check", "--json"], 2),
        (["paper", "--json", "--loud"], 2),
        (["tabulate", "--json", merovia, str(MEROVIA / "data"), str(tmp_path / "no" / "out")], 2),
    ]
    for breakage in ("repeated-block", "ragged-line"):
        folder = tmp_path / breakage
        assert main(["synth", str(folder), "--like", "tiny", "--break", breakage]) == 0
        wrong.append((["tabulate", str(folder / "params"), str(folder / "data"), out, "--json"], 1))
    reports = []
    capsys.readouterr()
    for words, status in wrong:
        assert main(words) == status
        told = capsys.readouterr()
        report = json.loads(told.out)
        assert report["exit_status"] == status
        assert all(finding["code"] in told.err for finding in report["findings"])
        assert report["findings"]
        reports.append(report)
    for fault, status in ((MemoryError, 3), (KeyboardInterrupt, 130), (KeyError, 3)):

        def fail(*_: object, raised: type[BaseException] = fault, **__: object) -> None:
            raise raised("a confidential value")

        monkeypatch.setattr("safetab.cli.tabulate.tabulate", fail)
        reports.append(printed(["tabulate", merovia, merovia, out, "--json"], capsys, status))
        assert reports[-1]["exit_status"] == status
    assert "confidential" not in str(reports)
    compare("errors with --json", reports)
    assert {next(iter(report.items())) for report in reports} == {("format", "safetab error 1")}


def test_without_json_an_error_is_words_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["account", str(MEROVIA / "params"), "--delta", "0"]) == 2
    assert not capsys.readouterr().out


def test_account(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["account", str(MEROVIA / "params"), "--epsilon", "12", "--cross-check", "--json"]
    report = printed(words, capsys)
    compare("safetab account --json", [report])
    assert next(iter(report.items())) == ("format", "safetab account 1")


def test_calibrate(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["calibrate", str(MEROVIA / "params"), "--json"]
    report = printed(words, capsys)
    compare("safetab calibrate --json", [report, printed([*words, "--epsilon", "9"], capsys)])
    assert next(iter(report.items())) == ("format", "safetab calibrate 1")


def sizes_of_merovia(folder: Path) -> str:
    file = folder / "sizes.txt"
    file.write_text("ITERATION_CODE|COUNT\nA01|40\n", encoding="utf-8")
    return str(file)


def test_detail(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["detail", str(MEROVIA / "params"), "--json"]
    reports = [printed(words, capsys), printed([*words, "--sizes", sizes_of_merovia(tmp_path)], capsys)]
    compare("safetab detail --json", reports)
    assert next(iter(reports[0].items())) == ("format", "safetab detail 1")


def test_comparison(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    geometric = with_geometric_noise(tmp_path / "geometric")
    words = ["account", str(MEROVIA / "params"), str(geometric / "params"), "--json"]
    reports = [
        printed([*words, "--sizes", sizes_of_merovia(tmp_path), "--epsilon", "3"], capsys),
        printed(words, capsys),
    ]
    compare("safetab account A B --json", reports)
    assert next(iter(reports[0].items())) == ("format", "safetab comparison 1")


def test_paper(capsys: pytest.CaptureFixture[str]) -> None:
    report = printed(["paper", "--json"], capsys)
    compare("safetab paper --json", [report])
    assert next(iter(report.items())) == ("format", "safetab paper 1")


def test_the_files_of_a_release(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    geometric = with_geometric_noise(tmp_path / "geometric")
    name_the_provinces(geometric)
    ledgers, dictionaries = [], []
    for world in (MEROVIA, geometric):
        out = tmp_path / f"out-{world.name}"
        sign = ["--sign", str(seals.write_keys(tmp_path)[0])] if world is geometric else []
        words = ["tabulate", str(world / "params"), str(world / "data"), str(out), "--json", *sign]
        ledger = printed(words, capsys)
        assert ledger == json.loads((out / "ledger.json").read_text(encoding="utf-8"))
        ledgers.append(ledger)
        dictionaries.append(json.loads((out / "data-dictionary.json").read_text(encoding="utf-8")))
    compare("ledger.json", ledgers)
    compare("data-dictionary.json", dictionaries)
    assert next(iter(ledgers[0].items())) == ("format", "safetab ledger 2")


def test_the_ledger_and_account_agree_on_every_figure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    params = str(MEROVIA / "params")
    ledger = printed(["tabulate", params, str(MEROVIA / "data"), str(tmp_path / "out"), "--json"], capsys)
    account = printed(["account", params, "--delta", ledger["analyses"]["delta"], "--json"], capsys)
    calibrated = printed(["calibrate", params, "--delta", ledger["analyses"]["delta"], "--json"], capsys)
    figures = set(ledger["analyses"]) - {"delta"}
    assert {key: ledger["analyses"][key] for key in figures} == {key: account["release"][key] for key in figures}
    assert figures | {"name"} == set(account["release"])
    assert {key: ledger["analyses"][key] for key in figures} == {key: calibrated[key] for key in figures}


def test_verify(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    private, public = seals.write_keys(tmp_path)
    words = [str(MEROVIA / "params"), str(MEROVIA / "data"), str(out)]
    printed(["tabulate", *words, "--json", "--sign", str(private)], capsys)
    reports = [printed(["verify", str(out), "--key", str(public), "--json"], capsys)]
    seals.change_ledger(out, lambda ledger: ledger.update(signing_key=None))
    (out / "ledger.sig").unlink()
    # Findings in text have lines, those in Parquet have rows.
    (out / "t1" / "merovia.csv").write_text((out / "t1" / "merovia.csv").read_text().replace("DISTRICT", "PROVINCE"))
    seals.reseal(out)
    reports.append(printed(["verify", str(out), "--params", words[0], "--json"], capsys, status=1))
    seals.change_table(out, "t1", lambda rows: rows[0].update(ESTIMATE=rows[0]["ESTIMATE"] + 1))
    reports.append(printed(["verify", str(out), "--json"], capsys, status=1))
    compare("safetab verify --json", reports)
    assert [report["is_sound"] for report in reports] == [True, False, False]
    assert {next(iter(report.items())) for report in reports} == {("format", "safetab verify 1")}


def test_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(readable.tabulated(readable.write(tmp_path), 5))
    state, small = ["2001", "STATE/01"], ["4001", "TRACT/01005000200"]
    words = [
        ["total", "--group", *state[:1], "--region", *state[1:]],
        ["total", "--group", *small[:1], "--region", *small[1:]],
        ["share", "--part", *state, "--whole", *small],
        ["difference", "--a", *state, "--b", *small],
        ["rank", "--group", "2001", "--group", "4001", "--region", "STATE/01"],
    ]
    reports = [printed(["read", out, *question, "--json"], capsys) for question in words]
    # A group stands for its estimate in a rank, which has no p-value, and may have all other values.
    reports[-1]["ranks"][0]["estimate"] |= {"p_value": None}
    compare("safetab read --json", reports)
    assert {next(iter(report.items())) for report in reports} == {("format", "safetab read 1")}
    assert reports[2]["high"] is None
