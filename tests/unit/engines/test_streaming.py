"""People as DuckDB streams them: what it says when the files are not the same at the second reading, and odd names."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import safetab
from safetab.engines.duckdb import streaming
from safetab.engines.duckdb.streaming import PeopleStream
from safetab.errors import MachineError
from tests.worlds import by_hand
from tests.worlds.merovia import MEROVIA


@pytest.mark.parametrize(
    "change",
    ["SET key = 0 WHERE kind = 0", "SET n = n + 1 WHERE kind = 0", "SET n = n - 1 WHERE kind = 0"],
    ids=["another kind", "one person more before", "one person less before"],
)
def test_records_that_change_while_they_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str) -> None:
    """People whom the first reading did not see, or the second one, are not counted or left out without a word."""
    by_hand.write(tmp_path)
    number_kinds = PeopleStream.number_kinds

    def seen_before(self: PeopleStream) -> object:
        found = number_kinds(self)
        self._connection.execute(f"UPDATE kinds {change}")
        return found

    monkeypatch.setattr(PeopleStream, "number_kinds", seen_before)
    with pytest.raises(MachineError, match="changed while they were read"):
        safetab.tabulate(tmp_path / "params", tmp_path / "data", tmp_path / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "params"]


def test_kinds_that_have_the_same_key_stay_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The number that stands for the codes of a record need not be another one for other codes."""
    params, data = MEROVIA / "params", MEROVIA / "data"
    expected = safetab.tabulate(params, data, tmp_path / "expected", noise=False, not_private=True)
    monkeypatch.setattr(streaming, "_KEY", "hash({}) % 3")
    found = safetab.tabulate(params, data, tmp_path / "out", noise=False, not_private=True)
    assert found.t1.equals(expected.t1)
    assert found.t2.equals(expected.t2)


@pytest.mark.parametrize(
    "names",
    [
        ("n", "kind", "nn", "sex"),
        ("i0", "age", "packed", "b0"),
        ("c1", "c0", "code_set", "C3"),
        ("area", "p", "q", "r"),
    ],
)
def test_columns_may_have_our_names(names: tuple[str, ...], tmp_path: Path) -> None:
    """A country may call its columns as the queries call theirs."""
    shutil.copytree(MEROVIA, tmp_path / "merovia")
    params, data = tmp_path / "merovia" / "params", tmp_path / "merovia" / "data"
    expected = safetab.tabulate(params, data, tmp_path / "expected", noise=False, not_private=True)
    release, records = (params / "release.toml").read_text(), (data / "people.txt").read_text()
    for before, name in zip(("PEOPLE1", "PEOPLE2", "TONGUE", "YEARS"), names, strict=True):
        release, records = release.replace(f'"{before}"', f'"{name}"'), records.replace(before, name, 1)
    (params / "release.toml").write_text(release)
    (data / "people.txt").write_text(records)
    found = safetab.tabulate(params, data, tmp_path / "out", noise=False, not_private=True)
    assert found.t1.equals(expected.t1)
    assert found.t2.equals(expected.t2)
