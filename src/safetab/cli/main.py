"""The command `safetab` and the one place where errors become words and an exit status.

Exit status 0: the work that was asked for was done. 1: the user's files break rules. 2: the command is wrong.
3: the machine failed. 130: interrupted. A trace is printed only with --debug, because it may hold confidential values.
"""

from __future__ import annotations

import os
import resource
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass

import click

from safetab import __version__
from safetab.cli import rules
from safetab.cli.show import print_findings
from safetab.errors import Finding, MachineError, SafetabError, UsageError

_INTERRUPTED = 130


@dataclass
class Session:
    """What the options before the command set."""

    debug: bool = False


class _LazyGroup(click.Group):
    """Imports a command's module when the command is used, so that `safetab --help` answers at once."""

    modules = ("account", "calibrate", "check", "init", "paper", "schema", "synth", "tabulate", "view")

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return sorted(self.modules)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in self.modules:
            return None
        module = __import__(f"safetab.cli.{cmd_name}", fromlist=["command"])
        command: click.Command = module.command
        return command


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="SafeTab %(version)s")
@click.option("--debug", is_flag=True, help="Print a trace when something fails; it may hold confidential values.")
@click.pass_obj
def cli(session: Session, debug: bool) -> None:
    """Differentially private population tables: exact noise, checkable guarantees, margins of error."""
    session.debug = debug


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status."""
    session = Session()
    _write_no_core()
    try:
        status = cli.main(args=argv, prog_name="safetab", standalone_mode=False, obj=session)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return UsageError.exit_status
    except BrokenPipeError:
        # The reader of our output has gone; Python must not complain about it again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 3
    except (KeyboardInterrupt, click.exceptions.Abort):
        _tell(MachineError(Finding(rules.INTERRUPTED, "safetab")))
        return _INTERRUPTED
    except Exception as error:
        if session.debug:
            traceback.print_exc()
        return _tell(_as_safetab_error(error))
    return int(status or 0)


def _write_no_core() -> None:
    """Should an engine crash, the system writes no image of its memory, which holds records, to the disk."""
    _, most = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, most))


def _as_safetab_error(error: Exception) -> SafetabError:
    if isinstance(error, SafetabError):
        return error
    if isinstance(error, click.UsageError):
        words = error.ctx.command_path if error.ctx else "safetab"
        return UsageError(Finding(rules.WRONG_WORDS, words, seen=error.format_message().rstrip(".")))
    if isinstance(error, MemoryError):
        return MachineError(Finding(rules.MEMORY, "safetab"))
    if isinstance(error, OSError):
        # The path and the system's own words; never what was being written.
        return MachineError(Finding(rules.DISK, str(error.filename or "a file"), seen=error.strerror or ""))
    # The type only: the text of an unforeseen error may quote a record.
    return MachineError(Finding(rules.FAULT, "safetab", seen=type(error).__name__))


def _tell(error: SafetabError) -> int:
    print_findings(error.findings, error.state)
    return error.exit_status
