"""The command `safetab` and the one place where errors become words and an exit status.

Exit status 0: the work that was asked for was done. 1: the user's files break rules. 2: the command is wrong.
3: the machine failed. 130: interrupted. With --json an error is also JSON on standard output. A trace is printed only
with --debug, because it may quote a record.
"""

from __future__ import annotations

import errno
import gc
import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib import import_module

import click

from safetab import __version__
from safetab.cli.terminal import print_findings, print_report
from safetab.errors import Finding, MachineError, SafetabError, UsageError, state_told
from safetab.rules import machine_rules, usage_rules

_INTERRUPTED = 130


@dataclass
class Session:
    """What the options before the command set, and whether the command is to print JSON."""

    debug: bool = False
    as_json: bool = False


#: Every command and the first sentence of its help.
COMMANDS = {
    "account": "Report what a release costs in privacy and how accurate it is.",
    "calibrate": "Turn margins of error into budgets and report what they cost.",
    "check": "Check the files of a release and summarize them.",
    "detail": "Show which groups get which detail.",
    "evaluate": "Measure how accurate a release would be: count the records once and draw its noise many times.",
    "explore": "Plan a release on a page in your browser, or read one.",
    "init": "Write a commented release.toml into DIR, for you to edit.",
    "paper": "Print the tables of the SafeTab paper beside the exact figures.",
    "read": "Answer a question about the release in OUT, with an interval and how it was computed.",
    "report": "Write a report of the release in OUT: one HTML file with pictures.",
    "schema": "Print the JSON schema of release.toml.",
    "synth": "Make a synthetic country in the new folder DIR.",
    "tabulate": "Tabulate records and write the tables to the new folder OUT.",
    "verify": "Check that the release in OUT is complete, unchanged and consistent.",
    "view": "Show a sample of the release in OUT.",
}


#: A first release, from nothing: what to type after `safetab`.
_FIRST_STEPS = (
    "synth trial --like tiny",
    "check trial/params trial/data",
    "account trial/params",
    "tabulate trial/params trial/data out",
    "view out",
)


class _LazyGroup(click.Group):
    """Imports a command's module when that command is used, so that `safetab --help` imports none."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        return _import_command(cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name]) for name in self.list_commands(ctx)])
        with formatter.section("To try it on invented people"):
            for words in _FIRST_STEPS:
                formatter.write_text(f"safetab {words}")


def _import_command(name: str) -> click.Command:
    """The command of a module, imported with as little work as possible."""
    from safetab.pipeline.process import forbid_core_files

    # If an engine crashes, the system must not write its memory, which contains records, to the disk.
    forbid_core_files()
    # SafeTab multiplies no matrices. The threads that numpy starts for that spin, and take 0.05 s of CPU.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    module = f"safetab.cli.{name}"
    if module not in sys.modules and gc.isenabled():
        # Imported code is kept to the end. To look for garbage in it takes another 0.05 s and finds none.
        gc.disable()
        try:
            import_module(module)
        finally:
            gc.enable()
    command: click.Command = import_module(module).command
    return command


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="SafeTab %(version)s")
@click.option(
    "--debug", is_flag=True, help="Print a trace when something fails. The trace may contain confidential values."
)
@click.pass_obj
def cli(session: Session, debug: bool) -> None:
    """Differentially private population tables: exact noise, checkable guarantees, margins of error."""
    session.debug = debug


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status."""
    # The words themselves: a command that is not understood has no options yet.
    session = Session(as_json="--json" in (sys.argv[1:] if argv is None else argv))
    try:
        status = cli.main(args=argv, prog_name="safetab", standalone_mode=False, obj=session)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return UsageError.exit_status
    except BrokenPipeError:
        # Nobody reads our output any more; Python must not report that again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 3
    except (KeyboardInterrupt, click.exceptions.Abort) as error:
        return _report_interrupt(error.__cause__ or error, session)
    except Exception as error:
        if isinstance(error.__context__, KeyboardInterrupt):
            return _report_interrupt(error.__context__, session)
        if session.debug:
            traceback.print_exc()
        return _report(_as_safetab_error(error), session)
    return int(status or 0)


def _as_safetab_error(error: Exception) -> SafetabError:
    if isinstance(error, SafetabError):
        return error
    if isinstance(error, click.UsageError):
        return UsageError(_wrong_words(error))
    state = state_told(error)
    if isinstance(error, MemoryError):
        return MachineError(Finding(machine_rules.MEMORY, "safetab"), state)
    if isinstance(error, OSError):
        # The path and the system's own words; never what was being written.
        is_full = error.errno in {errno.ENOSPC, errno.EDQUOT} or os.strerror(errno.ENOSPC) in str(error)
        rule = machine_rules.NO_ROOM if is_full else machine_rules.DISK
        return MachineError(Finding(rule, str(error.filename or "a file"), seen=error.strerror or ""), state)
    # The type only: the text of an unforeseen error may quote a record.
    return MachineError(Finding(machine_rules.DEFECT, "safetab", seen=type(error).__name__), state)


def _report_interrupt(error: BaseException, session: Session) -> int:
    # After SIGHUP there may be no terminal left to report to.
    with suppress(OSError):
        _report(MachineError(Finding(machine_rules.INTERRUPTED, "safetab"), state_told(error)), session, _INTERRUPTED)
    from safetab.pipeline.process import forget_interrupted_code

    forget_interrupted_code()
    return _INTERRUPTED


def _wrong_words(error: click.UsageError) -> Finding:
    """What is wrong with the words of a command, and how it is written; or which commands there are."""
    rule, context = usage_rules.WRONG_WORDS, error.ctx
    seen = error.format_message().rstrip(".")
    if context is None or context.command is cli:
        rule = replace(rule, next_step=f"{rule.next_step} The commands are {', '.join(COMMANDS)}.")
        return Finding(rule, "safetab", seen=seen)
    usage = " ".join([context.command_path, *context.command.collect_usage_pieces(context)])
    rule = replace(rule, next_step=f"Write it like `{usage}`. `{context.command_path} --help` describes every option.")
    return Finding(rule, context.command_path, seen=seen)


def _report(error: SafetabError, session: Session, exit_status: int | None = None) -> int:
    status = error.exit_status if exit_status is None else exit_status
    print_findings(error.findings, error.state)
    if session.as_json:
        print_report("error", {"exit_status": status, **error.as_json()})
    return status
