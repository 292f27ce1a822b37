"""What stands in OUT, and what stands nowhere when something goes wrong."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Sequence
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import safetab
from safetab.cli.main import main
from safetab.errors import Finding
from safetab.noise.laws import DiscreteGaussian
from safetab.noise.source import SeededSourceNotPrivate
from safetab.pipeline import publish
from safetab.pipeline.measure import Gate
from safetab.pipeline.progress import RunWork, WholeWork
from safetab.pipeline.workspace import Workspace, workspace
from tests.worlds import by_hand
from tests.worlds.merovia import MEROVIA

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def world(tmp_path: Path) -> Path:
    by_hand.write(tmp_path)
    return tmp_path


def tabulate(world: Path, out: str = "out", **options: object) -> safetab.TabulatedRelease:
    return safetab.tabulate(world / "params", world / "data", world / out, **options)  # type: ignore[arg-type]


KEYS = ["REGION_ID", "REGION_TYPE", "ITERATION_CODE"]
CELL = ["AGESTART", "AGEEND", "SEX"]
MORE = ["STAT_LEVEL", "NOISE", "VARIANCE", "MOE_95", "ESTIMATE", "LOW_95", "HIGH_95"]
BUREAU = {"t1": [*KEYS, "COUNT"], "t2": [*KEYS, *CELL, "COUNT"]}
ALL = {"t1": [*BUREAU["t1"], *MORE, "STAGE_1_COUNT"], "t2": [*BUREAU["t2"], *MORE]}


@pytest.mark.parametrize("text", ["config.json", "all", "bureau", "nothing said"])
def test_text_has_the_columns_of_parquet_or_exactly_the_bureaus(world: Path, text: str) -> None:
    if text != "config.json":
        # The same release, in our own words.
        assert main(["init", str(world / "params"), "--from", str(world / "params" / "config.json")]) == 0
        (world / "params" / "config.json").unlink()
        file = world / "params" / "release.toml"
        written = file.read_text()
        assert "[output]" in written
        line = 'columns = "bureau"\n'
        assert written.count(line) == 1
        file.write_text(written.replace(line, f'columns = "{text}"\n' if text in {"all", "bureau"} else ""))
    release = tabulate(world)
    columns_of = BUREAU if text in {"config.json", "bureau"} else ALL
    dictionary = json.loads((world / "out" / "data-dictionary.json").read_text())
    for name in ("t1", "t2"):
        described = dictionary[name]["columns"]
        assert [column["name"] for column in described] == ALL[name]
        assert [column["name"] for column in described if column["in_text_file"]] == columns_of[name]
        for run in ("us", "pr"):
            table = pq.read_table(world / "out" / "parquet" / name / f"{run}.parquet")
            assert table.column_names == ALL[name]
            header, *lines = (world / "out" / name / f"{run}.csv").read_text().splitlines()
            assert header == "|".join(columns_of[name])
            rows = table.select(columns_of[name]).to_pylist()
            assert [line.split("|") for line in lines] == [list(map(in_text, row.values())) for row in rows]
    noise = set(release.t1["NOISE"].to_pylist())
    assert noise == {"discrete_gaussian"}


def in_text(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "" if value is None else str(value)


def test_text_columns_that_do_not_exist_are_refused(world: Path) -> None:
    assert main(["init", str(world / "params"), "--from", str(world / "params" / "config.json")]) == 0
    (world / "params" / "config.json").unlink()
    file = world / "params" / "release.toml"
    file.write_text(file.read_text().replace('columns = "bureau"', 'columns = "some"'))
    assert [(finding.rule.code, finding.key) for finding in refusal(world)] == [("PARAMS-008", "output.columns")]


@pytest.mark.parametrize("name", ["t1", "t2"])
def test_a_folder_of_parquet_is_a_table_of_all_runs(world: Path, name: str) -> None:
    release = tabulate(world)
    table = pq.read_table(str(world / "out" / "parquet" / name))
    assert table.equals(getattr(release, name))
    runs = [pq.read_table(world / "out" / "parquet" / name / f"{run}.parquet") for run in ("pr", "us")]
    assert table.num_rows == sum(run.num_rows for run in runs)
    # Every group has a total; which of them have ages is left to the noise.
    if name == "t1":
        assert [run["REGION_TYPE"][0].as_py().startswith("PR-") for run in runs] == [True, False]
    assert sorted(path.name for path in (world / "out" / name).iterdir()) == ["pr.csv", "us.csv"]


def test_precision_is_that_of_the_law(world: Path) -> None:
    """(USA, 2) has budget 1 and stability 4: three combination groups and one ethnicity group."""
    release = tabulate(world)
    rows = [
        row for row in release.t1.to_pylist() if row["REGION_TYPE"] == "USA" and row["ITERATION_CODE"].startswith("2")
    ]
    total_only = DiscreteGaussian(Fraction(4, 2))
    stage_2 = DiscreteGaussian(Fraction(4, 2) / Fraction(9, 10))
    bins = {0: 1, 1: 4, 2: 9, 3: 23}
    for row in rows:
        if row["ITERATION_CODE"] in {"2003", "2004", "2005", "2006"}:
            assert row["STAT_LEVEL"] == 0
            assert row["MOE_95"] == total_only.two_sided_quantile(Fraction(95, 100))
            assert row["VARIANCE"] == pytest.approx(float(total_only.variance(64)))
        else:
            cells = bins[row["STAT_LEVEL"]] * (2 if row["STAT_LEVEL"] else 1)
            assert row["VARIANCE"] == pytest.approx(cells * float(stage_2.variance(64)))
    marginals = [row for row in release.t2.to_pylist() if row["AGESTART"] == "*" and row["REGION_TYPE"] == "USA"]
    for row in marginals:
        if row["ITERATION_CODE"].startswith("2"):
            assert row["VARIANCE"] == pytest.approx(bins[row["STAT_LEVEL"]] * float(stage_2.variance(64)))


def test_the_ledger_tells_the_plan_and_nothing_of_the_records(world: Path) -> None:
    release = tabulate(world)
    written = json.loads((world / "out" / "ledger.json").read_text())
    assert written == release.ledger
    assert written["is_private"] is True
    assert written["total_budget"] == "4"
    analyses = written["analyses"]
    assert analyses["rho"] == "4"
    assert analyses["epsilon"] == analyses["epsilon_loss_distribution"] < analyses["epsilon_renyi"]
    assert analyses["epsilon_renyi"] < analyses["epsilon_zcdp_analytic"]
    assert analyses == written["runs"][0]["analyses"], "the run with the larger budget decides"
    us = written["runs"][0]
    county = next(level for level in us["levels"] if level["level"] == "(COUNTY, 2)")
    assert county["groups"] == 3 * 5
    assert [m["sigma_squared"] for m in county["measurements"]] == ["15", "5/3"]
    assert county["measurements"][0]["counts"] == 15
    assert county["measurements"][0]["published_as"] == "STAGE_1_COUNT of T1"
    assert written["inputs"]["records"] is None
    assert set(written["inputs"]["parameters"]) >= {"config.json", "race-characteristic-iterations.txt"}


def test_an_existing_output_is_refused_and_kept(world: Path) -> None:
    tabulate(world)
    before = (world / "out" / "t1" / "us.csv").read_bytes()
    with pytest.raises(safetab.UsageError, match="OUTPUT-001"):
        tabulate(world)
    assert (world / "out" / "t1" / "us.csv").read_bytes() == before
    (world / "out" / "stale").touch()
    tabulate(world, overwrite=True)
    assert not (world / "out" / "stale").exists()


def test_a_folder_that_is_not_ours_is_not_overwritten(world: Path) -> None:
    (world / "out").mkdir()
    (world / "out" / "thesis.txt").write_text("years of work")
    with pytest.raises(safetab.UsageError, match="OUTPUT-005"):
        tabulate(world, overwrite=True)
    assert (world / "out" / "thesis.txt").read_text() == "years of work"


@pytest.mark.parametrize(
    ("out", "code"),
    [("nowhere/out", "OUTPUT-002"), ("params/config.json", "OUTPUT-003"), ("params", "OUTPUT-00"), (".", "OUTPUT-00")],
)
def test_places_where_no_output_can_be(world: Path, out: str, code: str) -> None:
    with pytest.raises(safetab.UsageError, match=code):
        tabulate(world, out, overwrite=True)
    assert (world / "params" / "config.json").is_file()


def test_output_around_the_inputs_is_refused(world: Path) -> None:
    (world / "ledger.json").write_text("{}")
    with pytest.raises(safetab.UsageError, match="OUTPUT-004"):
        safetab.tabulate(world / "params", world / "data", world, overwrite=True)


def test_what_must_stay_is_not_kept_in_the_output(world: Path) -> None:
    """--overwrite would remove the registry, and with it the history of spending; and OUT is published."""
    tabulate(world)
    (world / "out" / "records.txt").write_bytes((world / "data" / "person-records.txt").read_bytes())
    for option, name in (("registry", "registry"), ("records", "records.txt")):
        words: dict[str, object] = {option: world / "out" / name}
        with pytest.raises(safetab.UsageError, match="OUTPUT-004"):
            tabulate(world, "out", overwrite=True, **words)
    assert not (world / "out" / "registry").exists()


@pytest.mark.parametrize("option", ["params", "data", "records", "registry"])
def test_an_input_that_a_link_leads_into_the_output_is_refused(world: Path, option: str) -> None:
    tabulate(world)
    kept = world / "out" / "kept"
    kept.mkdir()
    (world / "way").symlink_to(kept)
    (kept / "records.txt").write_bytes((world / "data" / "person-records.txt").read_bytes())
    places: dict[str, Any] = {name: world / name for name in ("params", "data")} | {
        option: world / "way" / {"records": "records.txt", "registry": "registry"}.get(option, "")
    }
    with pytest.raises(safetab.UsageError, match="OUTPUT-004"):
        safetab.tabulate(out=world / "out", overwrite=True, **places)
    assert (kept / "records.txt").exists()


def test_an_output_that_a_link_leads_around_the_inputs_is_refused(world: Path) -> None:
    (world / "way").symlink_to(world.parent)
    (world / "ledger.json").write_text("{}")
    with pytest.raises(safetab.UsageError, match="OUTPUT-004"):
        safetab.tabulate(world / "params", world / "data", world / "way" / world.name, overwrite=True)
    assert (world / "data" / "person-records.txt").exists()


@pytest.mark.parametrize("target", ["nowhere", "elsewhere"])
def test_a_link_in_place_of_the_output_is_refused_before_anything_is_spent(world: Path, target: str) -> None:
    (world / "elsewhere").mkdir()
    (world / "out").symlink_to(world / target)
    for overwrite in (False, True):
        with pytest.raises(safetab.UsageError, match="OUTPUT-003"):
            tabulate(world, overwrite=overwrite, registry=world / "registry")
    assert not (world / "registry").exists()
    assert list((world / "elsewhere").iterdir()) == []


def test_what_is_published_is_complete_when_it_appears(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original, seen = Workspace.publish, []

    def publish(self: Workspace) -> None:
        seen.append(sorted(path.relative_to(self.out).as_posix() for path in self.out.rglob("*") if path.is_file()))
        original(self)

    monkeypatch.setattr(Workspace, "publish", publish)
    tabulate(world)
    out = world / "out"
    assert seen == [sorted(path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file())]
    assert {"ledger.json", "data-dictionary.json", "t1/us.csv", "parquet/t2/pr.parquet"} <= set(seen[0])


def test_parameter_files_that_change_during_a_tabulation_are_reported_as_they_were(world: Path) -> None:
    file = world / "params" / "config.json"
    before = sha256(file.read_bytes()).hexdigest()

    class Meddler:
        def note(self, text: str) -> None:  # noqa: ARG002
            file.unlink(missing_ok=True)

        def warn(self, findings: Sequence[Finding]) -> None:
            pass

        def advance(self, done: int, planned: int, what: str) -> None:
            pass

        def read(self, share: float) -> None:
            pass

    told = tabulate(world, watcher=Meddler()).ledger["inputs"]["parameters"]
    assert not file.exists()
    assert told["config.json"] == before


def test_faults_are_reported_step_by_step_and_those_of_a_step_together(world: Path) -> None:
    """What docs/how-to/check.md says: release, group definitions, geography, records."""
    params, data = world / "params", world / "data"
    steps = (
        (params / "config.json", [('"run_us": true', '"run_us": 3'), ('"max_race_codes": 8', '"max_race_codes": 0')]),
        (params / "race-characteristic-iterations.txt", [("|1|True|", "|7|True|"), ("|2|False|", "|2|Perhaps|")]),
        (data / "GRF-C.txt", [("01|003|", "01|3|"), ("|1001|99999|0010", "|1001|99999|x")]),
        (data / "person-records.txt", [("|30|1|", "|300|1|"), ("|70|2|", "|70|9|")]),
    )
    sound = {file: file.read_text() for file, _ in steps}
    for file, changes in steps:
        text = sound[file]
        for old, new in changes:
            assert old in text
            text = text.replace(old, new, 1)
        file.write_text(text)
    for file, changes in steps:
        for told in (safetab.check_inputs(params, data).errors, refusal(world)):
            assert {finding.file for finding in told} == {file.name}
            assert len(told) >= len(changes)
        file.write_text(sound[file])
    assert safetab.check_inputs(params, data).errors == ()


def refusal(world: Path) -> tuple[Finding, ...]:
    with pytest.raises(safetab.InputError) as caught:
        tabulate(world)
    return caught.value.findings


def test_no_figure_of_the_ledger_is_below_what_is_spent(world: Path) -> None:
    """Budgets with more digits than a float has: what is stated is never less."""
    file = world / "params" / "config.json"
    long = "0.12345678901234567890123456789"
    config = json.loads(file.read_text())
    for privacy in ("zcdp", "puredp"):
        budgets = {key: 0 for key in config if key.startswith("privacy_budget_p_level")}
        one_level = {"privacy_budget_p_level_2_usa": long, "privacy_defn": privacy}
        file.write_text(json.dumps(config | budgets | one_level))
        content = tabulate(world, privacy).ledger
        assert Fraction(content["total_budget"]) == Fraction(long)
        stated = content["analyses"]
        assert Fraction(stated["budget"]) >= Fraction(long)
        assert Fraction(stated["rho" if privacy == "zcdp" else "pure_epsilon"]) >= Fraction(long)
        assert Fraction(stated["epsilon"]) > 0
        if privacy == "puredp":
            assert Fraction(stated["rho_quoted"]) >= Fraction(long) ** 2 / (2 * 4)


def test_the_geography_is_hashed_as_it_was_read(world: Path) -> None:
    text = world / "data" / "GRF-C.txt"
    told = tabulate(world).ledger["inputs"]["geography"]
    assert told == {"GRF-C.txt": sha256(text.read_bytes()).hexdigest()}
    header, *lines = [line.split("|") for line in text.read_text().splitlines()]
    text.unlink()
    (world / "data" / "GRF-C").mkdir()
    for number in (0, 1):
        rows = zip(*lines[number::2], strict=True)
        part = pa.table(dict(zip(header, map(list, rows), strict=True)))
        pq.write_table(part, world / "data" / "GRF-C" / f"{number}.parquet")
    told = tabulate(world, "again").ledger["inputs"]["geography"]
    assert told == {
        f"GRF-C/{number}.parquet": sha256((world / "data" / "GRF-C" / f"{number}.parquet").read_bytes()).hexdigest()
        for number in (0, 1)
    }


@pytest.mark.parametrize("overwrite", [False, True])
def test_the_output_has_one_time(world: Path, overwrite: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Times of files would show how long each phase took, and that depends on the records."""
    if overwrite:
        tabulate(world)
    write_rows = publish.write_rows

    def slow(rows: Any, labels: Any, out: Path, name: str, stem: str) -> None:
        write_rows(rows, labels, out, name, stem)
        for number, path in enumerate((out, *out.rglob("*"))):
            os.utime(path, (1000 + number, 2000 + number))

    monkeypatch.setattr("safetab.pipeline.tabulate.write_rows", slow)
    tabulate(world, overwrite=overwrite)
    out = world / "out"
    modified = {path.stat().st_mtime_ns for path in (out, *out.rglob("*"))}
    assert len(modified) == 1
    assert {path.stat().st_atime_ns for path in out.rglob("*") if path.is_file()} == modified
    assert modified.pop() % 10**9 == 0


def test_what_is_not_private_is_for_its_owner_alone(world: Path) -> None:
    """Whatever else may be: true counts lie there."""
    tabulate(world, noise=False, not_private=True)
    tree = [world / "out", *(world / "out").rglob("*")]
    assert {path.stat().st_mode & 0o777 for path in tree if path.is_dir()} == {0o700}
    assert {path.stat().st_mode & 0o777 for path in tree if path.is_file()} == {0o600}
    tabulate(world, "private")
    assert (world / "private").stat().st_mode & 0o777 == 0o755


def test_noise_that_cannot_be_drawn_is_refused_before_anything_is_spent(world: Path) -> None:
    file = world / "params" / "config.json"
    config = json.loads(file.read_text())
    file.write_text(json.dumps(config | {"privacy_budget_p_level_2_usa": "1e-50"}))
    with pytest.raises(safetab.InputError, match="NOISE-010"):
        tabulate(world, registry=world / "registry")
    assert sorted(path.name for path in world.iterdir()) == ["data", "params"]


def test_noise_off_and_seeds_need_the_words(world: Path) -> None:
    options: dict[str, Any]
    for options in ({"noise": False}, {"source": SeededSourceNotPrivate(1)}, {"gate": lambda source: Gate(source)}):
        with pytest.raises(safetab.UsageError, match="PRIVACY-001"):
            tabulate(world, **options)
    assert not (world / "out").exists()


def test_misuse_from_python_is_a_value_error(world: Path) -> None:
    with pytest.raises(ValueError, match="PRIVACY-001"):
        tabulate(world, noise=False)
    with pytest.raises(ValueError, match="engine is 'sqlite'"):
        tabulate(world, engine="sqlite")
    with pytest.raises(TypeError, match="engine is of type int"):
        tabulate(world, engine=3)
    for words, kind, told in (
        ({"master": 5}, TypeError, "master is of type int: pass an address as text"),
        ({"session": "local"}, TypeError, "session is of type str: pass a SparkSession"),
        ({"master": "local", "session": SimpleNamespace(newSession=None)}, ValueError, "master or session, not both"),
    ):
        with pytest.raises(kind, match=re.escape(told)):
            safetab.Spark(**words)
    with pytest.raises(TypeError, match="source is of type int: it must be a BitSource"):
        tabulate(world, source=3, not_private=True)
    with pytest.raises(TypeError, match="gate is of type int: it must be a function"):
        tabulate(world, gate=3, not_private=True)
    with pytest.raises(TypeError, match="watcher is of type int: it must have the methods note, warn, advance, read"):
        tabulate(world, watcher=3)
    assert not (world / "out").exists()


@pytest.mark.parametrize("argument", ["params", "out", "records", "registry", "sign"])
def test_what_is_no_path_is_refused_by_its_name(argument: str, world: Path) -> None:
    paths = {"params": world / "params", "data": world / "data", "out": world / "out"}
    with pytest.raises(TypeError, match=f"^{argument} is of type int: pass a path, as text or as a Path"):
        safetab.tabulate(**(paths | {argument: 3}))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^params is of type bytes: pass a path"):
        safetab.check_inputs(b"params")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^data is of type int: pass the data folder, or a mapping"):
        safetab.check_inputs(world / "params", 3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^path is of type NoneType: pass a path"):
        safetab.load(None)  # type: ignore[arg-type]


def test_a_refusal_says_what_to_write_in_python(world: Path) -> None:
    with pytest.raises(safetab.UsageError, match=r"not_private=True from Python"):
        tabulate(world, noise=False)
    tabulate(world)
    with pytest.raises(safetab.UsageError, match=r"overwrite=True from Python"):
        tabulate(world)


@pytest.mark.parametrize("option", ["noise", "not_private", "overwrite", "spend_again", "progress"])
def test_an_option_in_words_is_refused(option: str, world: Path) -> None:
    with pytest.raises(TypeError, match=f"^{option} is 'off': it must be True or False"):
        tabulate(world, **{option: "off"})
    assert not (world / "out").exists()


def test_values_are_shown_only_if_show_values_is_true(world: Path) -> None:
    with pytest.raises(TypeError, match="show_values is 'no'"):
        safetab.check_inputs(world / "params", world / "data", show_values="no")  # type: ignore[arg-type]


def test_a_release_shows_itself_in_a_line(world: Path) -> None:
    shown = repr(tabulate(world, noise=False, not_private=True))
    assert shown.startswith("TabulatedRelease(")
    assert "T1 26 rows, T2 304 rows" in shown
    assert "NOT PRIVATE" in shown
    assert "rho 4" in repr(tabulate(world, "private"))
    assert "\n" not in shown


def test_a_check_takes_text_and_shows_itself_in_a_line(world: Path) -> None:
    report = safetab.check_inputs(str(world / "params"), str(world / "data"))
    assert report.judged_records
    assert repr(report) == "CheckReport(2 runs, 0 errors, 1 warnings)", "a state that no run takes"


def test_what_is_not_private_says_so_everywhere(world: Path) -> None:
    seeded: dict[str, Any] = {"source": SeededSourceNotPrivate(1)}
    for number, options in enumerate((seeded, {"gate": lambda source: Gate(source)})):
        release = tabulate(world, f"out{number}", not_private=True, **options)
        files = [path for path in release.folder.rglob("*") if path.parent.name in {"t1", "t2"}]
        assert len(files) == 8
        assert all("NOT-PRIVATE" in path.name for path in files)
        assert "NOT PRIVATE" in release.ledger["warning"]
        assert release.ledger["is_private"] is False


def test_a_seed_repeats_and_the_system_does_not(world: Path) -> None:
    options = {"not_private": True}
    first = tabulate(world, "a", source=SeededSourceNotPrivate(7), **options)
    second = tabulate(world, "b", source=SeededSourceNotPrivate(7), **options)
    assert first.t1.equals(second.t1)
    assert first.t2.equals(second.t2)
    assert not tabulate(world, "c").t2.equals(tabulate(world, "d").t2)


def test_every_group_is_there_also_without_people(world: Path) -> None:
    config = json.loads((world / "params" / "config.json").read_text())
    config["zero_suppression_chance"] = 0
    (world / "params" / "config.json").write_text(json.dumps(config))
    t1 = tabulate(world).t1.to_pylist()
    keys = {(row["REGION_ID"], row["REGION_TYPE"], row["ITERATION_CODE"]) for row in t1}
    local = ("2001", "2002", "2007", "2008", "4001")
    expected = {(county, "COUNTY", code) for county in ("01001", "01003", "02001") for code in local}
    expected |= {("0010", "AIANNH", code) for code in local}
    expected |= {("1", "USA", code) for code in ("1001", "1002", "4002", *(f"200{n}" for n in range(1, 7)), "4001")}
    expected |= {("72", "PR-STATE", code) for code in (*(f"200{n}" for n in range(1, 7)), "4001")}
    assert keys == expected
    # Removing the only person of a county changes no key.
    records = world / "data" / "person-records.txt"
    lines = records.read_text().splitlines()
    records.write_text("\n".join(line for line in lines if "|01|003|" not in line) + "\n")
    after = tabulate(world, "after").t1.to_pylist()
    assert {(row["REGION_ID"], row["REGION_TYPE"], row["ITERATION_CODE"]) for row in after} == keys


def test_negative_counts_are_kept_or_not(world: Path) -> None:
    config = json.loads((world / "params" / "config.json").read_text())
    config |= {"zero_suppression_chance": 0, "allow_negative_counts": False}
    (world / "params" / "config.json").write_text(json.dumps(config))
    release = tabulate(world)
    assert min(release.t1["COUNT"].to_pylist()) >= 0
    cells = [row for row in release.t2.to_pylist() if row["AGESTART"] != "*"]
    assert min(row["COUNT"] for row in cells) == 0
    for t1_row in release.t1.to_pylist():
        if t1_row["STAT_LEVEL"] and t1_row["REGION_TYPE"] == "USA":
            same = [row for row in cells if row["ITERATION_CODE"] == t1_row["ITERATION_CODE"]]
            published = [row["COUNT"] for row in same if row["REGION_TYPE"] == "USA"]
            assert t1_row["COUNT"] == sum(published)


class _Listener:
    def __init__(self) -> None:
        self.warnings: list[str] = []
        self.done: list[tuple[int, int]] = []
        self.shares: list[float] = []

    def note(self, text: str) -> None:
        """Not of interest here."""

    def warn(self, findings: Sequence[Finding]) -> None:
        self.warnings += [finding.rule.code for finding in findings]

    def advance(self, done: int, planned: int, what: str) -> None:  # noqa: ARG002
        self.done.append((done, planned))
        self.shares.append(done / planned)

    def read(self, share: float) -> None:
        self.shares.append(share)


def test_progress_ends_at_the_plan(world: Path) -> None:
    listener = _Listener()
    tabulate(world, watcher=listener)
    assert listener.warnings == ["GEO-007"], "this world has a state that no run takes"
    assert listener.done[-1][0] == listener.done[-1][1]
    assert listener.shares == sorted(listener.shares)
    assert 0 < listener.shares[0] < listener.done[0][0] / listener.done[0][1], "it moves while records are read"


def test_the_work_is_what_public_files_say() -> None:
    """Groups, and blocks for the rest: what the records are does not change a share."""
    heard = _Listener()
    work = WholeWork(heard, {"us": RunWork(10, groups=500, levels=2, levels_with_tables=1), "pr": RunWork(1, 40, 1, 1)})
    assert work.planned == 11 * (20 + 150) + (10 * 2 + 1 * 1) * 2 + (10 * 1 + 1 * 1) * 4 + 500 + 40
    assert work.done == 11 * 20
    work.reading("us", 0.5)
    work.was_read("us")
    work.reading("pr", 1.0)
    work.was_read("pr")
    assert heard.shares == [(220 + 750) / work.planned, (220 + 1500 + 150) / work.planned]
    assert work.done == 220 + 1650


def test_bad_records_are_counted_not_quoted(world: Path) -> None:
    records = world / "data" / "person-records.txt"
    text = records.read_text()
    header = text.splitlines()[0]
    block = "01|001|000100|1000"
    nulls = "|".join(["Null"] * 7)
    bad = {
        "RECORDS-001": f"|31|1|01|001|000100|9876||1010|{nulls}|9950",
        "RECORDS-002": f"|116|1|{block}||1010|{nulls}|9950",
        "RECORDS-003": f"|31|3|{block}||1010|{nulls}|9950",
        "RECORDS-004": f"|31|1|{block}||8765|{nulls}|9950",
        "RECORDS-005": f"|31|1|{block}||1010|Null|1020|Null|Null|Null|Null|Null|9950",
        "RECORDS-007": f"|31|1|{block}||Null|{nulls}|9950",
        "RECORDS-008": f"|31|1|{block}||1010|{nulls}|7654",
    }
    for age in ("", "x", "-1", "1.5", "1e1", " 5"):
        bad[f"{'RECORDS-002' if age else 'FILE-009'} {age}"] = f"|{age}|1|{block}||1010|{nulls}|9950"
    for code, line in bad.items():
        records.write_text(f"{header}\n{line}\n" + "\n".join(text.splitlines()[1:]) + "\n")
        with pytest.raises(safetab.InputError) as caught:
            tabulate(world)
        assert [finding.rule.code for finding in caught.value.findings] == [code.split()[0]], code
        assert [(finding.lines, finding.count) for finding in caught.value.findings] == [((2,), 1)]
        for secret in ("9876", "116", "8765", "7654"):
            assert secret not in str(caught.value)
        assert sorted(path.name for path in world.iterdir()) == ["data", "params"]


def test_more_codes_than_allowed_is_refused(world: Path) -> None:
    config = json.loads((world / "params" / "config.json").read_text())
    (world / "params" / "config.json").write_text(json.dumps(config | {"max_race_codes": 1}))
    with pytest.raises(safetab.InputError, match="RECORDS-006") as caught:
        tabulate(world)
    assert [(finding.key, finding.count) for finding in caught.value.findings] == [("QRACE2", 3)]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda text: text.replace("|QSPAN", "|SPAN"), "FILE-005"),
        (lambda text: text + "30|1\n", "FILE-007"),
        (lambda text: text.replace("2000", "20\u00e90").encode("latin-1"), "FILE-003"),
    ],
    ids=["column missing", "last line cut off", "not UTF-8"],
)
def test_records_that_are_no_table(world: Path, change: object, code: str) -> None:
    records = world / "data" / "person-records.txt"
    changed = change(records.read_text())  # type: ignore[operator]
    records.write_bytes(changed if isinstance(changed, bytes) else changed.encode())
    with pytest.raises(safetab.InputError, match=code) as caught:
        tabulate(world)
    assert "\u00e9" not in str(caught.value)
    assert sorted(path.name for path in world.iterdir()) == ["data", "params"]


def test_parquet_records_that_are_damaged(world: Path) -> None:
    (world / "data" / "person-records.txt").unlink()
    (world / "data" / "person-records.parquet").write_bytes(b"PAR1 nothing")
    with pytest.raises(safetab.InputError, match="FILE-012"):
        tabulate(world)


def test_the_temporary_folder_is_private_and_abandoned_ones_are_removed(tmp_path: Path) -> None:
    abandoned = tmp_path / ".out.safetab-dead"
    (abandoned / "engine").mkdir(parents=True)
    (abandoned / "lock").touch()
    with workspace(tmp_path / "out", overwrite=False) as space:
        assert not abandoned.exists()
        assert space.folder.stat().st_mode & 0o777 == 0o700
        # A run that is alive keeps its folder, and its output to itself; another output is free.
        with pytest.raises(safetab.UsageError, match="OUTPUT-007"), workspace(tmp_path / "out", overwrite=False):
            pass
        assert space.folder.exists()
        with workspace(tmp_path / "other", overwrite=False):
            pass
    assert list(tmp_path.iterdir()) == []


def test_a_name_with_brackets_is_cleaned_up_too(tmp_path: Path) -> None:
    abandoned = tmp_path / ".out[1].safetab-dead"
    abandoned.mkdir()
    (abandoned / "lock").touch()
    with workspace(tmp_path / "out[1]", overwrite=False):
        assert not abandoned.exists()


def test_an_output_that_has_come_meanwhile_is_kept(tmp_path: Path) -> None:
    with workspace(tmp_path / "out", overwrite=False) as space:
        (space.out / "ledger.json").write_text("ours")
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "ledger.json").write_text("theirs")
        with pytest.raises(safetab.UsageError, match="OUTPUT-001"):
            space.publish()
    assert (tmp_path / "out" / "ledger.json").read_text() == "theirs"


def test_the_example_country_tabulates(tmp_path: Path) -> None:
    release = safetab.tabulate(MEROVIA / "params", MEROVIA / "data", tmp_path / "out")
    assert set(release.t1["REGION_TYPE"].to_pylist()) == {"COUNTRY", "PROVINCE", "DISTRICT"}
    assert set(release.t2["SEX"].to_pylist()) == {"F", "M"}
    assert {"0", "*", "16"} <= set(release.t2["AGESTART"].to_pylist())


def test_output_on_a_full_disk_leaves_nothing(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr("safetab.pipeline.tabulate.write_rows", full)
    with pytest.raises(OSError, match="No space"):
        tabulate(world)
    assert sorted(path.name for path in world.iterdir()) == ["data", "params"]
    shutil.rmtree(world / "data")


def test_an_age_bin_for_every_year_up_to_two_hundred(tmp_path: Path) -> None:
    """More bins than an eight-bit number counts: each year keeps its own label and its own people."""
    shutil.copytree(MEROVIA / "params", tmp_path / "params")
    file = tmp_path / "params" / "release.toml"
    text = file.read_text().replace("oldest = 100", "oldest = 200")
    text = re.sub(r"^bins = .*$", f"bins = [[0, 16], [0, 16, 30], {list(range(201))}]", text, flags=re.MULTILINE)
    file.write_text(re.sub(r"thresholds = \[.*\]", "thresholds = [0, 0, 0]", text))
    release = safetab.tabulate(tmp_path / "params", MEROVIA / "data", tmp_path / "out", noise=False, not_private=True)
    rows = [row for row in release.t2.to_pylist() if row["REGION_TYPE"] == "COUNTRY"]
    groups = {row["ITERATION_CODE"] for row in rows}
    sexes = {row["SEX"] for row in rows}
    wanted = {(str(age), str(age)) for age in range(201)} | {("*", "*")}
    assert groups
    for group in groups:
        for sex in sexes:
            mine = [row for row in rows if (row["ITERATION_CODE"], row["SEX"]) == (group, sex)]
            assert len(mine) == len(wanted)
            assert {(row["AGESTART"], row["AGEEND"]) for row in mine} == wanted
    counted = {row["AGESTART"] for row in rows if row["COUNT"] and row["AGESTART"] != "*"}
    assert counted <= {str(age) for age in range(101)}, "nobody in the example is older than a hundred"
    assert len(counted) > 50
