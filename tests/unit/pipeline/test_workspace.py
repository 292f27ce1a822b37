"""What is published and what is spent is on the disk before anybody is told so."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from safetab.params.release import PrivacyDefinition
from safetab.pipeline.registry import Registry, Spending
from safetab.pipeline.workspace import workspace
from tests.unit.files.disk_log import DiskLog, contents, number

FILES = {"ledger.json": "{}", "t1/us.csv": "rows"}


def test_a_published_folder_is_on_the_disk_and_everybody_may_read_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    with workspace(out, overwrite=False) as space:
        (space.out / "t1").mkdir(mode=0o700)
        for name, text in FILES.items():
            (space.out / name).write_text(text)
            (space.out / name).chmod(0o600)
        log = DiskLog(lambda: contents(out)).install(monkeypatch)
        space.publish()
    tree = (out, *out.rglob("*"))
    assert sorted(log.synced) == sorted(number(path) for path in (tmp_path, *tree))
    assert log.seen == [None] * len(tree) + [FILES]
    assert {path.stat().st_mode & 0o777 for path in tree if path.is_dir()} == {0o755}
    assert {path.stat().st_mode & 0o777 for path in tree if path.is_file()} == {0o644}
    assert list(tmp_path.iterdir()) == [out]


def test_an_entry_of_the_registry_is_on_the_disk_before_it_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "registry"
    log = DiskLog(lambda: len(path.read_text().splitlines())).install(monkeypatch)
    spending = Spending(PrivacyDefinition.ZCDP, Fraction(1, 2))
    Registry(path).enter(spending, {"title": "first"}, None, spend_again=False)
    # The name of the new file, its key, the entry.
    assert log.synced == [number(tmp_path), number(path), number(path)]
    assert log.seen == [0, 1, 2]
    Registry(path).enter(spending, {"title": "second"}, None, spend_again=True)
    assert log.synced[3:] == [number(path)]
    assert log.seen[3:] == [3]
