"""The commands from outside: words, exit statuses, and what stays on disk."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import safetab
from safetab.cli.main import COMMANDS, cli, main
from safetab.errors import Rule
from safetab.params.document import json_schema
from safetab.params.template import TITLES, release_toml
from tests.worlds import by_hand, tiny
from tools.reference import rule_modules

ROOT = Path(__file__).resolve().parents[2]


def run(*words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "safetab", *words], capture_output=True, text=True, cwd=cwd, check=False
    )


def test_version_and_help() -> None:
    assert run("--version").stdout.strip() == f"SafeTab {safetab.__version__}"
    helped = run("--help")
    assert helped.returncode == 0
    for name in ("check", "init", "schema"):
        assert name in helped.stdout


def test_the_list_of_commands_quotes_the_help_of_each() -> None:
    modules = {
        path.stem for path in (ROOT / "src" / "safetab" / "cli").glob("*.py") if "@click.command" in path.read_text()
    }
    assert set(COMMANDS) == modules
    context = click.Context(cli)
    for name, line in COMMANDS.items():
        command = cli.get_command(context, name)
        assert command is not None
        words = " ".join((command.help or "").split())
        assert words.startswith(line), name
        assert words == line or words[len(line)] == " ", name
        assert line.endswith("."), name
        assert ". " not in line, name


def test_no_message_refers_to_a_page_that_is_not_installed() -> None:
    """Rules, help and templates say things themselves; the pages of docs/ are not part of the package."""
    told = [
        rule.text + rule.next_step
        for module in rule_modules()
        for rule in vars(module).values()
        if isinstance(rule, Rule)
    ]
    context = click.Context(cli)
    for name in COMMANDS:
        command = cli.get_command(context, name)
        assert command is not None
        told.append(command.get_help(click.Context(command, parent=context)))
    told += [release_toml(like) for like in TITLES] + [json.dumps(json_schema())]
    assert len(told) > 100
    for text in told:
        assert "docs/" not in text
        assert ".md" not in text


def test_help_imports_nothing_but_click() -> None:
    script = (
        "import sys\n"
        "sys.argv = ['safetab', '--help']\n"
        "from safetab.cli.main import main\n"
        "main()\n"
        "ours = {name for name in sys.modules if name.startswith('safetab.')}\n"
        "others = {name.partition('.')[0] for name in sys.modules} - set(sys.stdlib_module_names) - {'safetab'}\n"
        "print(sorted(ours), sorted(name for name in others if not name.startswith('_')))\n"
    )
    # Where coverage is measured it would be imported too.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment)
    modules = ["cli", "cli.layout", "cli.main", "cli.terminal", "errors", "rules"]
    modules += ["rules.machine_rules", "rules.usage_rules", "screen"]
    assert done.stdout.splitlines()[-1] == f"{[f'safetab.{name}' for name in modules]} ['click']"


def test_no_words_show_the_help_and_exit_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "Commands:" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["chek"], ["check"], ["check", "a", "b", "c"], ["check", "--loud", "x"]])
def test_wrong_words_exit_2(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert "USAGE-001" in capsys.readouterr().err


def test_wrong_words_are_reported_with_the_right_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tabulate", "params", "data"]) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert "Missing argument 'OUT'" in told
    assert "`safetab tabulate [OPTIONS] PARAMS DATA OUT`" in told
    assert main(["tabluate", "params", "data"]) == 2
    assert f"The commands are {', '.join(COMMANDS)}." in " ".join(capsys.readouterr().err.split())


def test_the_first_steps_of_the_help_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit):
        cli.main(["--help"], obj=None)
    shown = capsys.readouterr().out.partition("To try it on invented people:\n")[2]
    steps = [line.split()[1:] for line in shown.splitlines()]
    assert len(steps) == 5
    for words in steps:
        assert main(words) == 0, words


def test_one_next_step_for_faults_of_one_kind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", str(tmp_path)]) == 0
    assert main(["check", str(tmp_path)]) == 1
    told = " ".join(capsys.readouterr().err.split())
    assert told.count("FILE-001") == 4
    assert told.count("Put it in its place") == 1
    assert told.endswith("says which files are read.")


def test_a_folder_that_is_not_there_exits_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(tmp_path / "nowhere")]) == 1
    assert "FILE-001" in capsys.readouterr().err


def test_production_files_are_sound(census_2020: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(census_2020)]) == 0
    output = capsys.readouterr()
    for words in (
        "3,016 race iterations",
        "38 ethnicity iterations",
        "1,755 codes",
        "total rho 4.944",
        "total rho 2.643",
    ):
        assert words in output.out
    assert "Nothing wrong found" in output.out
    assert main(["check", str(census_2020), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert {level["stability"] for run in report["runs"] for level in run["levels"]} == {9}
    assert [finding["code"] for finding in report["findings"]] == ["PARAMS-035"]


def test_the_example_country_is_sound(capsys: pytest.CaptureFixture[str]) -> None:
    folder = ROOT / "examples" / "merovia"
    assert main(["check", str(folder / "params"), str(folder / "data")]) == 0
    output = capsys.readouterr()
    assert not output.err
    assert "34 blocks in 9 block sets" in output.out


def test_python_m_safetab_runs_a_check(tmp_path: Path) -> None:
    tiny.write(tmp_path, tiny.files())
    done = run("check", "params", "data", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (tmp_path / "params" / "config.json").write_text("{")
    assert run("check", "params", "data", cwd=tmp_path).returncode == 1


@pytest.mark.parametrize("like", ["paper", "census-2020"])
def test_init_writes_a_release_that_loads(like: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "new" / "release"
    assert main(["init", str(folder), "--like", like]) == 0
    assert "from your own files: `safetab init DIR --records FILE`" in capsys.readouterr().out
    tiny.write(folder, tiny.FILES)
    assert main(["check", str(folder)]) == 0, capsys.readouterr().err


def test_init_overwrites_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "release.toml").write_text("mine")
    assert main(["init", str(tmp_path)]) == 2
    assert "USAGE-002" in capsys.readouterr().err
    assert (tmp_path / "release.toml").read_text() == "mine"
    (tmp_path / "file").write_text("x")
    assert main(["init", str(tmp_path / "file")]) == 2
    assert "USAGE-003" in capsys.readouterr().err


def test_a_disk_that_refuses_exits_3(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", "/proc/nowhere"]) == 3
    assert "MACHINE-001" in capsys.readouterr().err


def test_a_defect_exits_3_and_says_nothing_of_values(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise KeyError("a confidential value")

    monkeypatch.setattr("safetab.cli.schema.json_schema", fail)
    assert main(["schema"]) == 3
    told = capsys.readouterr().err
    assert "MACHINE-003" in told
    assert "KeyError" in told
    assert "confidential value" not in told
    assert "Traceback" not in told
    assert main(["--debug", "schema"]) == 3
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("fault", "status", "code"), [(MemoryError, 3, "MACHINE-002"), (KeyboardInterrupt, 130, "MACHINE-004")]
)
def test_memory_and_interrupts(
    fault: type[BaseException],
    status: int,
    code: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(*_: object) -> None:
        raise fault

    monkeypatch.setattr("safetab.cli.schema.json_schema", fail)
    assert main(["schema"]) == status
    assert code in capsys.readouterr().err


def test_a_reader_that_goes_away_is_no_failure() -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as pipe:
        done = subprocess.run(
            [sys.executable, "-m", "safetab", "schema"], stdout=pipe, stderr=subprocess.PIPE, text=True, check=False
        )
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr


def test_schema_is_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "ReleaseDocument"


def test_importing_does_no_work() -> None:
    script = (
        "import sys, safetab; "
        "heavy = {'duckdb', 'pyspark', 'numpy', 'pyarrow', 'pydantic', 'flint', 'dp_accounting'} & set(sys.modules); "
        "print(sorted(heavy)); assert callable(safetab.load); assert 'duckdb' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_public_names_are_real() -> None:
    for name in safetab.__all__:
        assert getattr(safetab, name) is not None
    with pytest.raises(AttributeError):
        _ = safetab.no_such_name


def test_view_shows_estimates_or_the_bureaus_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same release twice: with all columns, and in the Bureau's format."""
    shutil.copytree(ROOT / "examples" / "merovia", tmp_path, dirs_exist_ok=True)
    file = tmp_path / "params" / "release.toml"
    for columns in ("all", "bureau"):
        out = tmp_path / columns
        if columns == "bureau":
            file.write_text(f'{file.read_text()}\n[output]\ncolumns = "bureau"\n')
        assert main(["tabulate", str(tmp_path / "params"), str(tmp_path / "data"), str(out)]) == 0
        summary = " ".join(capsys.readouterr().out.split())
        assert "the true one is from LOW_95 to HIGH_95 (95 %)" in summary
        assert ("COUNT, in the Bureau's columns" in summary) is (columns == "bureau")
        assert main(["view", str(out), "--rows", "100"]) == 0
        told = capsys.readouterr().out
        t1 = pq.read_table(out / "parquet" / "t1").filter(pc.field("REGION_TYPE") == "COUNTRY").to_pylist()
        for row in t1:
            line = next(line for line in told.splitlines() if f" {row['ITERATION_CODE']} " in line).split()
            shown = [row["COUNT"], "±", row["MOE_95"]] if columns == "bureau" else [row["LOW_95"], "to", row["HIGH_95"]]
            if columns == "all":
                assert line[-4] == f"{row['ESTIMATE']:,}"
            assert line[-3:] == [f"{part:,}" if isinstance(part, int) else part for part in shown]
        numbers = [int(line.split()[-3 if columns == "bureau" else -4].replace(",", "")) for line in told.splitlines()
                   if any(f" {row['ITERATION_CODE']} " in line for row in t1)]  # fmt: skip
        assert numbers == sorted(numbers, reverse=True)


def test_view_shows_names_and_margins(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = ROOT / "examples" / "merovia"
    out = tmp_path / "out"
    assert main(["tabulate", str(folder / "params"), str(folder / "data"), str(out)]) == 0
    summary = capsys.readouterr().out
    assert "196" in summary
    assert "adding or removing any one person" in " ".join(summary.split())
    assert main(["view", str(out)]) == 0
    told = capsys.readouterr().out
    assert "COUNTRY Merovia" in told
    assert "Settler peoples alone or in combination" in told
    assert "all ages" in told
    assert main(["view", str(out), "--region", "Co", "--rows", "1"]) == 0
    assert "PROVINCE Co" in capsys.readouterr().out
    assert main(["view", str(out), "--region", "nowhere"]) == 1
    assert "USAGE-005" in capsys.readouterr().err
    assert main(["view", str(tmp_path)]) == 1
    assert "USAGE-004" in capsys.readouterr().err


def test_view_says_where_no_margin_is_true(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    by_hand.write(tmp_path)
    # Whatever the noise, every group that may have a table has the coarse one.
    thresholds = {level: [-(10**6), 10**6, 10**6] for level in by_hand.LEVELS_ON}
    by_hand.choose(tmp_path, allow_negative_counts=False, thresholds_p=thresholds)
    out = tmp_path / "out"
    assert main(["tabulate", str(tmp_path / "params"), str(tmp_path / "data"), str(out)]) == 0
    capsys.readouterr()
    assert main(["view", str(out), "--region", "USA/1"]) == 0
    told = capsys.readouterr().out
    assert "None" not in told
    lines = {line.split("  ")[0]: line.split() for line in told.splitlines()}
    # A single count has its margin, a sum of counts that may have been set to 0 has none.
    assert lines["Tribe A alone"][-2] == "±"
    assert lines["European alone or in combination"][-1] == "-"
    assert "±" not in lines["all ages"]
    assert lines["65 to 115"].count("±") == 2
    assert "Numbers without a margin have no valid one" in told
    by_hand.choose(tmp_path, allow_negative_counts=True)
    assert main(["tabulate", str(tmp_path / "params"), str(tmp_path / "data"), str(out), "--overwrite"]) == 0
    capsys.readouterr()
    assert main(["view", str(out), "--region", "USA/1"]) == 0
    assert "No margin" not in capsys.readouterr().out


def test_view_never_mixes_regions_of_two_types(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Merovia with one more level, whose regions have the ids of its provinces."""
    shutil.copytree(ROOT / "examples" / "merovia", tmp_path, dirs_exist_ok=True)
    file = tmp_path / "params" / "release.toml"
    level = '[[level]]\nrun = "merovia"\ngeography = "AREA"\niteration_level = 1\nbudget = 1\nthresholds = [9, 9, 9]\n'
    file.write_text(f'{file.read_text()}\n[geography.AREA]\ncolumns = ["PROVINCE"]\n{level}')
    out = tmp_path / "out"
    assert main(["tabulate", str(tmp_path / "params"), str(tmp_path / "data"), str(out)]) == 0
    capsys.readouterr()
    assert main(["view", str(out), "--region", "Co"]) == 1
    told = capsys.readouterr()
    assert "USAGE-006" in told.err
    assert "AREA/Co, PROVINCE/Co" in told.err
    assert told.out == ""
    for kind, groups in (("AREA", 6), ("PROVINCE", 22)):
        assert main(["view", str(out), "--region", f"{kind}/Co"]) == 0
        assert f"{kind} Co, the largest of {groups} groups" in capsys.readouterr().out
    # An id of one type alone needs no type, and a wrong type is no region.
    assert main(["view", str(out), "--region", "Merovia"]) == 0
    capsys.readouterr()
    assert main(["view", str(out), "--region", "AREA/Merovia"]) == 1
    assert "USAGE-005" in capsys.readouterr().err


def test_tabulate_says_when_it_is_not_private(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = ROOT / "examples" / "merovia"
    words = ["tabulate", str(folder / "params"), str(folder / "data"), str(tmp_path / "out"), "--noise", "off"]
    assert main(words) == 2
    assert "PRIVACY-001" in capsys.readouterr().err
    assert main([*words, "--not-private", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["is_private"] is False
    assert main(words[:-2]) == 2
    assert "OUTPUT-001" in capsys.readouterr().err
