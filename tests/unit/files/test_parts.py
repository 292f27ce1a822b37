"""Which files of a folder are parts, and what the names of their folders say."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from safetab.files.parts import Part, list_parts, part_files, partition_of


def told(folder: Path) -> list[tuple[str, str]]:
    return [(finding.rule.code, finding.file) for finding in list_parts(folder)[1]]


def touch(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()


def test_every_part_at_any_depth_in_a_fixed_order(tmp_path: Path) -> None:
    touch(tmp_path, "b.parquet", "more/a.PARQUET", "more/deep/c.parq", "a.pq", "_SUCCESS", "x.crc", "more/_metadata")
    (tmp_path / "empty").mkdir()
    names = ["a.pq", "b.parquet", "more/a.PARQUET", "more/deep/c.parq"]
    assert part_files(tmp_path) == [tmp_path / name for name in names]
    assert told(tmp_path) == []


def test_what_is_no_part_is_named(tmp_path: Path) -> None:
    touch(tmp_path, "a.parquet", "b.csv", "more/c", "_d.parquet", ".e/f.parquet", "_SUCCESS/g.parquet")
    names = sorted(["b.csv", "more/c", "_d.parquet", ".e/f.parquet", "_SUCCESS/g.parquet"])
    assert told(tmp_path) == [("FILE-020", name) for name in names]
    assert part_files(tmp_path) == [tmp_path / "a.parquet"]


def test_names_that_an_engine_cannot_open_are_named_and_can_be_printed(tmp_path: Path) -> None:
    """DuckDB and Arrow fail over bytes that are no UTF-8; in a pattern a backslash begins a folder."""
    touch(tmp_path, "a.parquet", os.fsdecode(b"b\xff.parquet"), "c\\[1].parquet", "d\n\x1b[31m/e.parquet", "né.csv")
    assert told(tmp_path) == [
        ("FILE-020", name) for name in ("b\\xff.parquet", "c\\[1].parquet", "d\\n\\x1b[31m/e.parquet", "né.csv")
    ]
    assert part_files(tmp_path) == [tmp_path / "a.parquet"]


def test_of_very_many_the_first_are_named_and_all_are_counted(tmp_path: Path) -> None:
    touch(tmp_path, *(f"{number}.csv" for number in range(10, 30)))
    findings = list_parts(tmp_path)[1]
    assert [finding.file for finding in findings] == [*(f"{number}.csv" for number in range(10, 18)), tmp_path.name]
    assert (findings[-1].count, findings[-1].seen) == (12, "12 more")


def test_links_and_pipes(tmp_path: Path) -> None:
    """A link to a file is the file; one to a folder might lead round in a circle; one to nowhere is refused."""
    folder = tmp_path / "records"
    touch(folder, "a.parquet")
    touch(tmp_path, "elsewhere/b.parquet")
    (folder / "b.parquet").symlink_to(tmp_path / "elsewhere" / "b.parquet")
    (folder / "circle").symlink_to(folder)
    (folder / "nowhere.parquet").symlink_to(tmp_path / "none")
    os.mkfifo(folder / "pipe.parquet")
    assert part_files(folder) == [folder / "a.parquet", folder / "b.parquet"]
    assert told(folder) == [("FILE-020", name) for name in ("circle", "nowhere.parquet", "pipe.parquet")]


def test_a_folder_that_may_not_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    touch(tmp_path, "a.parquet", "closed/b.parquet")
    scan = os.scandir

    def refuse(path: Any) -> Any:
        if Path(path).name == "closed":
            raise PermissionError(13, "no", str(path))
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert told(tmp_path) == [("FILE-011", "closed")]


def test_what_the_names_of_folders_say() -> None:
    name = "STATE=01/any/A%20B=x%2Fy/=1/C=/D=__HIVE_DEFAULT_PARTITION__/E=F=G/part=3.parquet"
    said = (("STATE", "01"), ("A B", "x/y"), ("C", ""), ("D", None), ("E", "F=G"))
    assert partition_of(name) == said
    part = Part(name, name, said)
    assert [part.value("STATE", width) for width in (None, 1, 2, 3)] == ["01", "01", "01", "001"]
    assert [part.value(column, 3) for column in ("A B", "C", "D", "E")] == ["x/y", "", None, "F=G"]
