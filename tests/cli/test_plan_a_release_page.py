"""The commands on docs/how-to/plan-a-release.md run as they are printed."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from safetab.cli.main import main
from tests.worlds.merovia import MEROVIA

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "plan-a-release.md"


def test_every_command_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    blocks = re.findall(r"```sh\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    commands = [shlex.split(line) for block in blocks for line in block.splitlines()]
    assert len(commands) >= 9
    shutil.copytree(MEROVIA, tmp_path / "examples" / "merovia")
    shutil.copytree(MEROVIA / "params", tmp_path / "other-params")
    (tmp_path / "sizes.txt").write_text("ITERATION_CODE|COUNT\nA01|700\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for command in commands:
        assert command[0] == "safetab"
        assert main(command[1:]) == 0, command
        shown = capsys.readouterr().out
        assert "--group" not in command or "Highland peoples alone" in shown
