"""Pages that are run as a reader would: their commands, Python and edits, and what they are said to print.

`python -m tools.pages` runs them all and writes what is printed now in place of what is not true any more. A `text
part` is for people to correct.

| block | what is done with it |
| --- | --- |
| `sh` | Each command is run; `sh fails` says that the last one ends with an error. |
| `console` | Commands of `make`, which install: each must be a target. They are not run. |
| `python` | It is run; names live on to the end of the page. |
| `text` | What the block before it prints, to the letter. |
| `text noisy` | The same lines, in any order, whatever the numbers are: noise is fresh each time. |
| `text part` | Lines that the block before it prints, among others; `text noisy part` both. |
| `diff FILE` | An edit: the lines with `-` become those with `+`. |
| `toml FILE` | Lines that are in the file, one after the other. |
"""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from safetab.cli.main import main as safetab

ROOT = Path(__file__).resolve().parents[1]
PAGES = tuple(
    ROOT / name
    for name in (
        "docs/tutorial/first-release.md",
        "docs/how-to/own-files.md",
        "docs/how-to/programs-and-shells.md",
        "docs/how-to/read-a-release.md",
        "docs/how-to/run.md",
        "docs/how-to/check.md",
        "docs/how-to/verify-a-release.md",
        "docs/how-to/add-an-engine.md",
        "docs/reference/examples.md",
        "README.md",
    )
)
#: How wide the screen of a reader is.
COLUMNS = 100
#: A number as tables print it, and what stands for it where noise decides.
_NUMBER = re.compile(r"-?\d[\d,.]*")
#: A program that runs pieces of Python and says what each has printed.
_PYTHON = """
import contextlib, io, json, sys
names = {}
for line in sys.stdin:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(json.loads(line), names)
    print(json.dumps(out.getvalue()), flush=True)
"""


class UntrueError(Exception):
    """A page says what is not so."""


def _require(is_true: object, message: str) -> None:
    if not is_true:
        raise UntrueError(message)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page: what it says after the fence, its text, and its line."""

    words: tuple[str, ...]
    text: str
    line: int


def blocks(page: Path) -> Iterator[Block]:
    """Every fenced block of a page."""
    lines = page.read_text(encoding="utf-8").splitlines()
    start = None
    for number, line in enumerate(lines):
        if line.startswith("```") and start is None:
            start = number
        elif line == "```" and start is not None:
            yield Block(tuple(lines[start][3:].split()), "\n".join(lines[start + 1 : number]), start + 1)
            start = None


class Reader:
    """Somebody who does what a page says, in the working folder."""

    def __init__(self) -> None:
        self._python: subprocess.Popen[str] | None = None
        self._printed = ""

    def follow(self, page: Path, outputs: list[tuple[Block, str]] | None = None) -> int:
        """Do everything that a page says; the number of blocks. Raises with the line of the first that is not true.

        With `outputs` an output that is not true is put there, with what is printed now.
        """
        every = list(blocks(page))
        try:
            for block in every:
                try:
                    self._do(block)
                except UntrueError as error:
                    if outputs is None or block.words[0] != "text" or "part" in block.words:
                        raise UntrueError(f"{page.name}, line {block.line}: {error}") from error
                    outputs.append((block, self._printed))
        finally:
            if self._python is not None:
                self._python.communicate()
        return len(every)

    def _run_python(self, code: str) -> str:
        """What some Python prints, in a process of its own: what it sets up must not stay."""
        if self._python is None:
            self._python = subprocess.Popen(
                [sys.executable, "-c", _PYTHON], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
        if self._python.stdin is None or self._python.stdout is None:
            raise ValueError("both are pipes")
        self._python.stdin.write(json.dumps(code) + "\n")
        self._python.stdin.flush()
        answer = self._python.stdout.readline()
        _require(answer, "this ended with an error")
        printed: str = json.loads(answer)
        return printed

    def _do(self, block: Block) -> None:
        match block.words:
            case ("sh", *how):
                self._printed = _run(block.text, fails=how == ["fails"])
            case ("console",):
                _look_for_targets(block.text)
            case ("python",):
                self._printed = self._run_python(block.text)
            case ("text", *how):
                _compare(block.text, self._printed, *how)
            case ("diff", file):
                _edit(Path(file), block.text)
            case ("toml", file):
                _require(block.text in Path(file).read_text(encoding="utf-8"), f"{file} has no such lines")
            case _:
                raise UntrueError(f"nobody knows what to do with {' '.join(block.words) or 'a block without a word'}")


def _look_for_targets(text: str) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for line in text.splitlines():
        command = re.fullmatch(r"\$ make ([a-z-]+)(?: +#.*)?", line)
        _require(command and f"\n{command[1]}: " in makefile, f"`{line}` is no target of the Makefile")


def _run(text: str, *, fails: bool) -> str:
    """What some commands print: on standard output, or, where the last one fails, on standard error."""
    commands = text.replace("\\\n", " ").splitlines()
    printed = ""
    for number, command in enumerate(commands, start=1):
        status, out, errors = _run_one(command)
        is_meant_to_fail = fails and number == len(commands)
        _require((status != 0) == is_meant_to_fail, f"`{command}` ended with {status}: {errors}")
        printed += errors if is_meant_to_fail else out
    return printed


def _run_one(command: str) -> tuple[int, str, str]:
    words = shlex.split(command)
    if words[0] == "cd":
        os.chdir(words[1])
        return 0, "", ""
    if words[0] != "safetab" or any(mark in command for mark in ("|", ">", "$(")):
        path = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
        done = subprocess.run(
            ["bash", "-c", command],  # noqa: S607
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | path,
        )
        return done.returncode, done.stdout, done.stderr
    out, errors = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(errors):
        status = safetab(words[1:])
    return status, out.getvalue(), errors.getvalue()


def _compare(said: str, printed: str, *how: str) -> None:
    _require(set(how) <= {"noisy", "part"}, f"nobody knows what {' '.join(how)} means")
    seen = _printed_lines(printed)
    expected = said.splitlines()
    if "noisy" in how:
        seen, expected = sorted(map(_without_noise, seen)), sorted(map(_without_noise, expected))
    if "part" in how:
        missing = [line for line in expected if line not in seen]
        _require(not missing, f"not printed: {missing}\nprinted:\n{printed}")
        return
    _require(seen == expected, f"printed:\n{printed}")


def _printed_lines(printed: str) -> list[str]:
    return [line.rstrip() for line in printed.strip("\n").splitlines()]


def _without_noise(line: str) -> str:
    return " ".join(_NUMBER.sub("#", line).split())


def _edit(file: Path, change: str) -> None:
    """Replace the first place that has the lines without `+` by the lines without `-`."""
    lines = [(line[:1], line[1:]) for line in change.splitlines()]
    old = "".join(f"{text}\n" for mark, text in lines if mark != "+")
    new = "".join(f"{text}\n" for mark, text in lines if mark != "-")
    before = file.read_text(encoding="utf-8")
    _require(old in before, f"{file} has no such lines")
    file.write_text(before.replace(old, new, 1), encoding="utf-8")


def rewrite(page: Path) -> None:
    """Follow a page and write what is printed now in place of what is not true."""
    outputs: list[tuple[Block, str]] = []
    Reader().follow(page, outputs)
    lines = page.read_text(encoding="utf-8").splitlines()
    for block, printed in reversed(outputs):
        lines[block.line : block.line + len(block.text.splitlines())] = _printed_lines(printed)
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    """Rewrite every page, each in a new folder that has the examples."""
    os.environ["COLUMNS"] = str(COLUMNS)
    for page in PAGES:
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(ROOT / "examples", Path(folder) / "examples")
            os.chdir(folder)
            rewrite(page)
            os.chdir(ROOT)


if __name__ == "__main__":
    main()
