"""Folders appear whole or not at all, and nothing is called written before the disk has it."""

from __future__ import annotations

from pathlib import Path

import pytest

from safetab.files import durable
from safetab.files.durable import append_line, exchange, put_in_place, sync_tree, write_json
from tests.unit.files.disk_log import DiskLog, contents, number

NEW = {"ledger.json": "new", "t1/us.csv": "new rows"}
OLD = {"ledger.json": "old", "t2/us.csv": "old rows"}
#: Files and folders below a folder with the files of NEW, and the folder itself.
SYNCS_OF_NEW = 4


def make(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def cannot_exchange(_one: Path, _other: Path) -> bool:
    return False


def test_every_file_and_folder_of_a_tree_is_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = make(tmp_path / "tree", NEW)
    (tree / "empty").mkdir()
    log = DiskLog().install(monkeypatch)
    sync_tree(tree)
    assert sorted(log.synced) == sorted(number(path) for path in (tree, *tree.rglob("*")))


def test_a_folder_takes_its_name_after_its_bytes_and_before_its_name_is_synced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    finished, target = make(tmp_path / "work" / "out", NEW), tmp_path / "out"
    tree = sorted(number(path) for path in (finished, *finished.rglob("*")))
    log = DiskLog(lambda: contents(target)).install(monkeypatch)
    put_in_place(finished, target)
    assert sorted(log.synced[:-1]) == tree
    assert log.seen[:-1] == [None] * SYNCS_OF_NEW
    assert log.synced[-1] == number(tmp_path)
    assert log.seen[-1] == NEW
    assert not finished.exists()


@pytest.mark.parametrize("fail_at", range(SYNCS_OF_NEW + 1))
@pytest.mark.parametrize("can_exchange", [True, False], ids=["exchange", "two renames"])
@pytest.mark.parametrize("before", [None, OLD], ids=["new", "replaced"])
def test_a_disk_that_fails_leaves_no_half_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: dict[str, str] | None, can_exchange: bool, fail_at: int
) -> None:
    finished, target = make(tmp_path / "work" / "out", NEW), tmp_path / "out"
    if before is not None:
        make(target, before)
    if not can_exchange:
        monkeypatch.setattr(durable, "exchange", cannot_exchange)
    DiskLog(fail_at=fail_at).install(monkeypatch)
    with pytest.raises(OSError, match="No space"):
        put_in_place(finished, target, aside=tmp_path / "work" / "replaced")
    assert contents(target) == (NEW if fail_at == SYNCS_OF_NEW else before)


@pytest.mark.parametrize(("can_exchange", "where"), [(True, "out"), (False, "replaced")])
def test_a_folder_is_replaced_and_the_old_one_set_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, can_exchange: bool, where: str
) -> None:
    finished, target = make(tmp_path / "work" / "out", NEW), make(tmp_path / "out", OLD)
    if not can_exchange:
        monkeypatch.setattr(durable, "exchange", cannot_exchange)
    log = DiskLog(lambda: contents(target)).install(monkeypatch)
    put_in_place(finished, target, aside=tmp_path / "work" / "replaced")
    assert log.seen == [OLD] * SYNCS_OF_NEW + [NEW]
    assert log.synced[-1] == number(tmp_path)
    assert [path.name for path in (tmp_path / "work").iterdir()] == [where]
    assert contents(tmp_path / "work" / where) == OLD


@pytest.mark.parametrize("there", [OLD, {}], ids=["with files", "empty"])
def test_a_name_that_is_taken_stays_with_its_owner(tmp_path: Path, there: dict[str, str]) -> None:
    finished, target = make(tmp_path / "finished", NEW), tmp_path / "out"
    target.mkdir()
    make(target, there)
    with pytest.raises(FileExistsError) as error:
        put_in_place(finished, target)
    assert error.value.filename == str(target)
    assert contents(target) == there
    assert contents(finished) == NEW


@pytest.mark.parametrize("aside", [None, "replaced"])
def test_a_name_taken_at_the_last_moment_stays_with_its_owner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, aside: str | None
) -> None:
    finished, target = make(tmp_path / "finished", NEW), tmp_path / "out"
    rename = Path.rename

    def too_late(self: Path, to: Path) -> Path:
        make(target, OLD)
        return rename(self, to)

    monkeypatch.setattr(Path, "rename", too_late)
    with pytest.raises(FileExistsError):
        put_in_place(finished, target, aside=None if aside is None else tmp_path / aside)
    assert contents(target) == OLD
    assert contents(finished) == NEW


def test_a_rename_that_fails_for_another_reason_says_so(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        put_in_place(make(tmp_path / "finished", NEW), tmp_path / "no folder" / "out")


def test_two_folders_that_cannot_be_exchanged_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = make(tmp_path / "one", NEW)
    assert not exchange(one, tmp_path / "nowhere")
    other = make(tmp_path / "other", OLD)
    monkeypatch.setattr("sys.platform", "darwin")
    assert not exchange(one, other)
    assert (contents(one), contents(other)) == (NEW, OLD)


def test_an_appended_line_is_on_the_disk_when_the_call_returns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "history"
    path.write_text("one\n")
    log = DiskLog(path.read_text).install(monkeypatch)
    with path.open("r+", encoding="utf-8") as file:
        append_line(file, "zwölf")
        assert log.synced == [number(path)]
        assert log.seen == ["one\nzwölf\n"]


def test_json_is_text_that_people_can_read(tmp_path: Path) -> None:
    write_json(tmp_path / "x.json", {"title": "Größe", "levels": [1, 0.159], "key": None})
    wanted = '{\n  "title": "Größe",\n  "levels": [\n    1,\n    0.159\n  ],\n  "key": null\n}\n'
    assert (tmp_path / "x.json").read_bytes() == wanted.encode()
