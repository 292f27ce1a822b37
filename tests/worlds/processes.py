"""The program in processes of its own: held at any step and ended from outside, or one command after another."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

#: Seconds that a process may take to come to a step; far more than it does, even on a busy machine.
_LONGEST = 600

TABULATE = ("tabulate", "params", "data", "out", "--registry", "registry")


def unmeasured() -> dict[str, str]:
    """The environment of a process that is ended at any moment: coverage.py would not measure what it runs.

    An interrupt that comes while coverage.py holds its lock leaves it locked, and the process waits for ever.
    """
    return {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}


def start(
    world: Path, *, pause_in: str = "", words: Sequence[str] = TABULATE, said: Path | None = None
) -> subprocess.Popen[bytes]:
    """Start a command in its own process; where `pause_in` is first about to be called it waits for `resume`.

    What it says on standard error goes to the file `said`, if there is one.
    """
    script = "import os, sys, time; from safetab.cli.main import main\n"
    if pause_in:
        module, name = pause_in.rsplit(".", 1)
        script += f"import {module} as owner\n"
        script += (
            f"original = owner.{name}\n"
            "def slow(*words, **options):\n"
            f"    owner.{name} = original\n"
            "    open('paused', 'w').close()\n"
            f"    for _ in range(10 * {_LONGEST}):\n"
            "        os.path.exists('resume') or time.sleep(0.1)\n"
            "    return original(*words, **options)\n"
            f"owner.{name} = slow\n"
        )
    script += f"sys.exit(main({list(words)!r}))"
    with (said or Path(os.devnull)).open("wb") as log:
        return subprocess.Popen(
            [sys.executable, "-c", script],
            cwd=world,
            env=unmeasured() | {"TMPDIR": str(world)},
            stdout=subprocess.DEVNULL,
            stderr=log,
            preexec_fn=_heed_interrupts,
        )


def _heed_interrupts() -> None:
    # A test run in the background of a shell has interrupts switched off, one under nohup hang-ups, and its children
    # would inherit that.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def wait_for(path: Path, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _LONGEST
    while not path.exists():
        assert process.poll() is None, "ended before it paused"
        assert time.monotonic() < deadline
        time.sleep(0.02)


#: Runs commands one after another, each with a standard output and error of its own, and says how they ended.
_COMMANDS = """
import json, os, sys
from safetab.cli.main import main
folder, *commands = json.loads(sys.argv[1])
statuses = []
for number, words in enumerate(commands):
    for stream, name in ((sys.stdout, "out"), (sys.stderr, "err")):
        stream.flush()
        file = os.open(os.path.join(folder, f"{number}.{name}"), os.O_WRONLY | os.O_CREAT)
        os.dup2(file, stream.fileno())
    statuses.append(main(words))
with open(os.path.join(folder, "statuses"), "w") as file:
    json.dump(statuses, file)
"""


def run_commands(
    world: Path, said: Path, environment: Mapping[str, str], *commands: Sequence[str]
) -> list[subprocess.CompletedProcess[bytes]]:
    """Run commands in one process, because starting one takes longer than the work; what they say goes to `said`."""
    said.mkdir()
    words = [sys.executable, "-c", _COMMANDS, json.dumps([str(said), *commands])]
    subprocess.run(words, cwd=world, env=environment, check=True)
    statuses = json.loads((said / "statuses").read_text())
    return [
        subprocess.CompletedProcess(
            list(command), status, (said / f"{number}.out").read_bytes(), (said / f"{number}.err").read_bytes()
        )
        for number, (command, status) in enumerate(zip(commands, statuses, strict=True))
    ]
