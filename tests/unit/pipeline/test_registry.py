"""The registry never counts too little, and says what it would come to."""

from __future__ import annotations

import json
import multiprocessing
from fractions import Fraction
from pathlib import Path

import pytest

import safetab
from safetab.params.release import PrivacyDefinition
from safetab.pipeline.registry import Registry, Spending, composed, fingerprint
from tests.worlds import by_hand

ZCDP, PURE = PrivacyDefinition.ZCDP, PrivacyDefinition.PURE_DP


@pytest.fixture
def world(tmp_path: Path) -> Path:
    by_hand.write(tmp_path)
    return tmp_path


def tabulate(world: Path, out: str, **options: object) -> safetab.TabulatedRelease:
    return safetab.tabulate(
        world / "params",
        world / "data",
        world / out,
        registry=world / "registry",
        **options,  # type: ignore[arg-type]
    )


def test_a_second_release_is_refused_with_the_total(world: Path) -> None:
    tabulate(world, "first")
    with pytest.raises(safetab.InputError, match="REGISTRY-001") as caught:
        tabulate(world, "second")
    assert "rho 8 in total" in str(caught.value)
    assert not (world / "second").exists()
    tabulate(world, "second", spend_again=True)
    with pytest.raises(safetab.InputError, match="rho 12 in total"):
        tabulate(world, "third")


def test_the_entry_stands_before_any_noise_is_drawn(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        assert len((world / "registry").read_text().splitlines()) == 2
        raise RuntimeError("killed here")

    monkeypatch.setattr("safetab.pipeline.measure.Gate.measure", fail)
    with pytest.raises(RuntimeError, match="killed here"):
        tabulate(world, "out")
    monkeypatch.undo()
    # What failed after its entry still counts.
    with pytest.raises(safetab.InputError, match="REGISTRY-001"):
        tabulate(world, "out")


def test_bad_records_spend_nothing(world: Path) -> None:
    records = world / "data" / "person-records.txt"
    sound = records.read_text()
    records.write_text(sound.replace("|70|2|", "|170|2|"))
    with pytest.raises(safetab.InputError, match="RECORDS-002"):
        tabulate(world, "out")
    assert not (world / "registry").exists()
    records.write_text(sound)
    tabulate(world, "out")


def test_the_ledger_has_the_keyed_fingerprint_and_not_the_key(world: Path) -> None:
    release = tabulate(world, "out")
    head, entry = [json.loads(line) for line in (world / "registry").read_text().splitlines()]
    key = bytes.fromhex(head["key"])
    assert release.ledger["inputs"]["records"] == entry["records"]
    assert entry["records"] == fingerprint(world / "data" / "person-records.txt", key)
    assert head["key"] not in (world / "out" / "ledger.json").read_text()
    assert entry["records"] != fingerprint(world / "data" / "person-records.txt", bytes(32))
    assert (world / "registry").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("damage", ["\n{", "\n{}", "\nnull", '\n{"privacy": "zcdp", "budget": "much"}'])
def test_a_damaged_registry_stops_everything(world: Path, damage: str) -> None:
    tabulate(world, "out")
    registry = world / "registry"
    registry.write_text(registry.read_text().rstrip("\n") + damage + "\n")
    with pytest.raises(safetab.InputError, match="REGISTRY-002"):
        tabulate(world, "again", spend_again=True)


def test_what_is_not_private_is_not_registered(world: Path) -> None:
    with pytest.raises(safetab.UsageError, match="REGISTRY-003"):
        tabulate(world, "out", noise=False, not_private=True)
    assert not (world / "registry").exists()


def test_totals_compose() -> None:
    half = Fraction(1, 2)
    assert composed([Spending(ZCDP, half), Spending(ZCDP, half)]) == "rho 1"
    assert composed([Spending(PURE, half), Spending(PURE, half)]) == "epsilon 1"
    assert composed([Spending(PURE, Fraction(1)), Spending(ZCDP, half)]) == "rho 1"


def _enter(path: str, data: str) -> None:
    Registry(Path(path)).enter(Spending(ZCDP, Fraction(1)), {}, Path(data), spend_again=True)


def test_entries_of_many_processes_are_all_there(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("x")
    context = multiprocessing.get_context("spawn")
    words = (str(tmp_path / "registry"), str(tmp_path / "data"))
    processes = [context.Process(target=_enter, args=words) for _ in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert len((tmp_path / "registry").read_text().splitlines()) == 5
