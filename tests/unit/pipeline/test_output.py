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

import pyarrow.parquet as pq
import pytest

import safetab
from safetab.errors import Finding
from safetab.noise.laws import DiscreteGaussian
from safetab.noise.source import SeededSourceNotPrivate
from safetab.pipeline.workspace import Workspace, workspace
from tests.golden.test_by_hand import write_world

ROOT = Path(__file__).resolve().parents[3]
MEROVIA = ROOT / "examples" / "merovia"


@pytest.fixture
def world(tmp_path: Path) -> Path:
    write_world(tmp_path)
    return tmp_path


def tabulate(world: Path, out: str = "out", **options: object) -> safetab.TabulatedRelease:
    return safetab.tabulate(world / "params", world / "data", world / out, **options)  # type: ignore[arg-type]


def test_parquet_has_the_text_and_the_precision(world: Path) -> None:
    release = tabulate(world)
    for name in ("t1", "t2"):
        for run in ("us", "pr"):
            table = pq.read_table(world / "out" / name / f"{run}.parquet")
            columns = table.column_names[: -len(["STAT_LEVEL", "NOISE", "VARIANCE", "MOE_95"])]
            lines = (world / "out" / name / f"{run}.csv").read_text().splitlines()
            rows = zip(*(table[column].to_pylist() for column in columns), strict=True)
            assert lines == ["|".join(columns), *("|".join(map(str, row)) for row in rows)]
    noise = set(release.t1["NOISE"].to_pylist())
    assert noise == {"discrete_gaussian"}


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
    assert analyses["rho"] == 4.0
    assert analyses["epsilon"] == analyses["epsilon_loss_distribution"] < analyses["epsilon_renyi"]
    assert analyses["epsilon_renyi"] < analyses["epsilon_zcdp_analytic"]
    assert analyses == written["runs"][0]["analyses"], "the run with the larger budget decides"
    us = written["runs"][0]
    county = next(level for level in us["levels"] if level["level"] == "(COUNTY, 2)")
    assert county["groups"] == 3 * 5
    assert [m["sigma_squared"] for m in county["measurements"]] == ["15", "5/3"]
    assert county["measurements"][0]["counts"] == 15
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
    assert {"ledger.json", "data-dictionary.json", "t1/us.csv", "t2/pr.parquet"} <= set(seen[0])


def test_parameter_files_that_change_during_a_run_are_told_as_they_were(world: Path) -> None:
    file = world / "params" / "config.json"
    before = sha256(file.read_bytes()).hexdigest()

    class Meddler:
        def note(self, text: str) -> None:  # noqa: ARG002
            file.unlink(missing_ok=True)

        def warn(self, findings: Sequence[Finding]) -> None:
            pass

        def advance(self, done: int, planned: int, what: str) -> None:
            pass

    told = tabulate(world, watcher=Meddler()).ledger["inputs"]["parameters"]
    assert not file.exists()
    assert told["config.json"] == before


def test_noise_that_cannot_be_drawn_is_refused_before_anything_is_spent(world: Path) -> None:
    file = world / "params" / "config.json"
    config = json.loads(file.read_text())
    file.write_text(json.dumps(config | {"privacy_budget_p_level_2_usa": "1e-50"}))
    with pytest.raises(safetab.InputError, match="NOISE-010"):
        tabulate(world, registry=world / "registry")
    assert sorted(path.name for path in world.iterdir()) == ["data", "params"]


def test_noise_off_and_seeds_need_the_words(world: Path) -> None:
    for options in ({"noise": False}, {"source": SeededSourceNotPrivate(1)}):
        with pytest.raises(safetab.UsageError, match="PRIVACY-001"):
            tabulate(world, **options)
    assert not (world / "out").exists()


def test_what_is_not_private_says_so_everywhere(world: Path) -> None:
    release = tabulate(world, source=SeededSourceNotPrivate(1), not_private=True)
    files = [path for path in (world / "out").rglob("*") if path.parent.name in {"t1", "t2"}]
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

    def note(self, text: str) -> None:
        """Not of interest here."""

    def warn(self, findings: Sequence[Finding]) -> None:
        self.warnings += [finding.rule.code for finding in findings]

    def advance(self, done: int, planned: int, what: str) -> None:  # noqa: ARG002
        self.done.append((done, planned))


def test_progress_ends_at_the_plan(world: Path) -> None:
    listener = _Listener()
    tabulate(world, watcher=listener)
    assert listener.done[0][0] == 0
    assert listener.done[-1][0] == listener.done[-1][1] == 10 + 15 + 5 + 7
    assert listener.done == sorted(listener.done)


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
        (lambda text: text.splitlines()[0] + "\n", "RECORDS-010"),
        (lambda text: text.replace("2000", "20\u00e90").encode("latin-1"), "FILE-003"),
    ],
    ids=["column missing", "last line cut off", "no records", "not UTF-8"],
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

    monkeypatch.setattr("safetab.pipeline.run.write_rows", full)
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
