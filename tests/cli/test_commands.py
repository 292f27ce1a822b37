"""The commands from outside: words, exit statuses, and what stays on disk."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import safetab
from safetab.cli.main import main
from tests import worlds

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


def test_no_words_show_the_help_and_exit_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "Commands:" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["chek"], ["check"], ["check", "a", "b", "c"], ["check", "--loud", "x"]])
def test_wrong_words_exit_2(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert "USAGE-001" in capsys.readouterr().err


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
    assert "34 blocks in 9 cells" in output.out


def test_python_m_safetab_runs_a_check(tmp_path: Path) -> None:
    worlds.write(tmp_path, worlds.tiny_world())
    done = run("check", "params", "data", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (tmp_path / "params" / "config.json").write_text("{")
    assert run("check", "params", "data", cwd=tmp_path).returncode == 1


@pytest.mark.parametrize("like", ["paper", "census-2020"])
def test_init_writes_a_release_that_loads(like: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "new" / "release"
    assert main(["init", str(folder), "--like", like]) == 0
    worlds.write(folder, worlds.FILES)
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


def test_a_fault_of_ours_exits_3_and_says_nothing_of_values(
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


def test_a_reader_that_goes_away_is_no_fault() -> None:
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


def test_tabulate_says_when_it_is_not_private(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = ROOT / "examples" / "merovia"
    words = ["tabulate", str(folder / "params"), str(folder / "data"), str(tmp_path / "out"), "--noise", "off"]
    assert main(words) == 2
    assert "PRIVACY-001" in capsys.readouterr().err
    assert main([*words, "--not-private", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["is_private"] is False
    assert main(words[:-2]) == 2
    assert "OUTPUT-001" in capsys.readouterr().err
