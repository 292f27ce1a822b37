"""The memory that an engine may use is the machine's, or less where a control group says so."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from safetab.engines.duckdb.engine import DuckDbEngine
from safetab.engines.memory import usable_memory

MACHINE = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
MIB = 1 << 20
VERSION_2 = "0::/system.slice/docker-1.scope\n"
VERSION_1 = "5:cpu:/\n4:memory:/docker/1\n0::/\n"
SCOPE = "sys/fs/cgroup/system.slice/docker-1.scope"


def machine(root: Path, groups: str | None, files: Mapping[str, str]) -> Path:
    """A folder that stands for the root of a machine."""
    named = dict(files) if groups is None else {"proc/self/cgroup": groups, **files}
    for name, text in named.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


@pytest.mark.parametrize(
    ("groups", "files", "limit"),
    [
        pytest.param(None, {}, None, id="no control groups"),
        pytest.param("nonsense\n\n", {}, None, id="nonsense"),
        pytest.param(VERSION_2, {f"{SCOPE}/memory.max": "max\n"}, None, id="2, no limit"),
        pytest.param(VERSION_2, {f"{SCOPE}/memory.max": f"{64 * MIB}\n"}, 64, id="2, a limit"),
        pytest.param(
            VERSION_2,
            {f"{SCOPE}/memory.max": f"{64 * MIB}\n", f"{SCOPE}/memory.high": f"{48 * MIB}\n"},
            48,
            id="2, high",
        ),
        pytest.param(
            VERSION_2,
            {f"{SCOPE}/memory.max": "max\n", "sys/fs/cgroup/system.slice/memory.max": f"{32 * MIB}\n"},
            32,
            id="2, a group around it",
        ),
        pytest.param("0::/\n", {"sys/fs/cgroup/memory.max": f"{16 * MIB}\n"}, 16, id="2, inside a container"),
        pytest.param(
            VERSION_1, {"sys/fs/cgroup/memory/docker/1/memory.limit_in_bytes": f"{64 * MIB}\n"}, 64, id="1, a limit"
        ),
        pytest.param(
            VERSION_1,
            {"sys/fs/cgroup/memory/docker/1/memory.limit_in_bytes": "9223372036854771712\n"},
            None,
            id="1, no limit",
        ),
        pytest.param(
            VERSION_1, {"sys/fs/cgroup/memory/memory.limit_in_bytes": f"{24 * MIB}\n"}, 24, id="1, the host's path"
        ),
        pytest.param(
            VERSION_1, {"sys/fs/cgroup/unified/memory.max": f"{8 * MIB}\n"}, 8, id="both, the limit in version 2"
        ),
        pytest.param(
            "5:cpu:/docker/1\n", {"sys/fs/cgroup/memory/memory.limit_in_bytes": "5\n"}, None, id="1, not in a group"
        ),
    ],
)
def test_the_least_limit_counts(tmp_path: Path, groups: str | None, files: dict[str, str], limit: int | None) -> None:
    assert usable_memory(machine(tmp_path, groups, files)) == (MACHINE if limit is None else limit * MIB)


def test_duckdb_gets_half_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = machine(tmp_path / "root", VERSION_2, {f"{SCOPE}/memory.max": f"{300 * MIB}\n"})
    monkeypatch.setattr("safetab.engines.duckdb.engine.usable_memory", lambda: usable_memory(root))
    with DuckDbEngine(tmp_path).database("any") as connection:
        asked = connection.execute("SELECT current_setting('memory_limit')").fetchall()
    assert asked == [("150.0 MiB",)]
    assert list(tmp_path.glob("any.duckdb*")) == [], "what was read is not left beside what is counted"
