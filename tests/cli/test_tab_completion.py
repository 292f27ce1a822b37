"""The Tab key completes commands, options, values and files, with the lines that the page says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from safetab.cli.main import COMMANDS, main

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "programs-and-shells.md"


def completed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: str) -> list[str]:
    """What bash is offered for the last word."""
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split(" ")) - 1))
    monkeypatch.setenv("_SAFETAB_COMPLETE", "bash_complete")
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 0
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("safetab ", [f"plain,{name}" for name in sorted(COMMANDS)]),
        ("safetab tab", ["plain,tabulate"]),
        ("safetab init --no-a", ["plain,--no-age"]),
        ("safetab tabulate a b c --engine ", ["plain,duckdb", "plain,spark"]),
        ("safetab check pa", ["file,pa"]),
        ("safetab init new --records pe", ["file,pe"]),
    ],
)
def test_what_is_offered(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: str, offered: list[str]
) -> None:
    assert completed(monkeypatch, capsys, words) == offered


def test_the_lines_of_the_page() -> None:
    lines = dict(re.findall(r"^\| (bash|zsh|fish)\b.*\| `(.*)` \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
    assert list(lines) == ["bash", "zsh", "fish"]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for shell, line in lines.items():
        # What the shell is going to run, by the shell that every machine has.
        command = re.sub(r'^eval "\$\((.*)\)"$|^(.*) \\\| source$', r"\1\2", line)
        script = subprocess.run(
            ["bash", "-c", command], env=os.environ | {"PATH": path}, capture_output=True, text=True, check=True
        ).stdout
        assert f"_SAFETAB_COMPLETE={shell}_complete" in script
