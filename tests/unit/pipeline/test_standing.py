"""Whatever fails, and whenever: the error says whether the spending counts, why, and what can be done."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

import safetab
from safetab.cli.main import main
from safetab.errors import COUNTED, NOT_COUNTED, PUBLISHED, UNCOUNTED, UNSPENT, state_told
from safetab.pipeline.registry import Registry
from safetab.pipeline.workspace import Workspace
from tests.unit.files.disk_log import DiskLog
from tests.worlds import by_hand
from tests.worlds.one_run import one_run_if_quick

#: Where it fails, and whether the spending counts by then.
STEPS = {
    "safetab.pipeline.tabulate.open_records": False,
    "safetab.pipeline.registry.fingerprint": False,
    "safetab.pipeline.measure.Gate.measure": True,
    "safetab.pipeline.tabulate.write_rows": True,
    "safetab.pipeline.workspace.put_in_place": True,
}
ERRORS: dict[str, Callable[[], BaseException]] = {
    "a full disk": lambda: OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)),
    "a disk that fails": lambda: OSError(errno.EIO, os.strerror(errno.EIO)),
    "no memory": MemoryError,
    "an interrupt": KeyboardInterrupt,
    "a defect": lambda: RuntimeError("a record"),
}
CODES = {
    "a full disk": (3, "MACHINE-006"),
    "a disk that fails": (3, "MACHINE-001"),
    "no memory": (3, "MACHINE-002"),
    "an interrupt": (130, "MACHINE-004"),
    "a defect": (3, "MACHINE-003"),
}


@pytest.fixture
def world(tmp_path: Path) -> Path:
    by_hand.write(tmp_path, by_hand.SHORT)
    by_hand.choose(tmp_path, **one_run_if_quick())
    return tmp_path


def fail(monkeypatch: pytest.MonkeyPatch, step: str, error: BaseException) -> None:
    def failing(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(step, failing)


def words(world: Path, *more: str) -> list[str]:
    return ["tabulate", *(str(world / name) for name in ("params", "data", "out")), *more]


@pytest.mark.parametrize("name", ERRORS)
@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.rsplit(".", 1)[1])
def test_the_command_says_whether_the_spending_counts(
    world: Path, step: str, name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    counts = STEPS[step]
    registry = world / "registry"
    with monkeypatch.context() as patch:
        fail(patch, step, ERRORS[name]())
        status = main(words(world, "--registry", str(registry)))
    told = " ".join(capsys.readouterr().err.split())
    assert status == CODES[name][0]
    assert CODES[name][1] in told
    assert (COUNTED if counts else UNSPENT) in told
    assert "Nothing was written" not in told
    # What it says is so: without the words the next one is refused, with them it is not.
    assert main(words(world, "--registry", str(registry))) == (1 if counts else 0)
    assert not counts or main(words(world, "--registry", str(registry), "--spend-again")) == 0


@pytest.mark.parametrize("name", ERRORS)
def test_from_python_the_error_itself_says_so(world: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    error = ERRORS[name]()
    fail(monkeypatch, "safetab.pipeline.tabulate.write_rows", error)
    with pytest.raises(type(error)) as caught:
        safetab.tabulate(world / "params", world / "data", world / "out", registry=world / "registry")
    assert caught.value is error
    assert state_told(error) == COUNTED
    assert error.__notes__ == [COUNTED]


def test_without_a_registry_it_says_that_nobody_counts(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fail(monkeypatch, "safetab.pipeline.tabulate.write_rows", RuntimeError())
    for state, options in ((UNCOUNTED, {}), (NOT_COUNTED, {"noise": False, "not_private": True})):
        with pytest.raises(RuntimeError) as caught:
            safetab.tabulate(world / "params", world / "data", world / "out", **options)  # type: ignore[arg-type]
        assert caught.value.__notes__[-1] == state


@pytest.mark.parametrize("overwrite", [False, True])
def test_an_error_after_the_output_is_in_its_place_says_that(
    world: Path, overwrite: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if overwrite:
        safetab.tabulate(world / "params", world / "data", world / "out")
    publish = Workspace.publish

    def interrupted(self: Workspace) -> None:
        publish(self)
        raise KeyboardInterrupt

    monkeypatch.setattr(Workspace, "publish", interrupted)
    with pytest.raises(KeyboardInterrupt) as caught:
        safetab.tabulate(world / "params", world / "data", world / "out", overwrite=overwrite)
    assert state_told(caught.value) == PUBLISHED
    assert (world / "out" / "ledger.json").exists()


def test_an_output_that_has_come_meanwhile_says_that_the_spending_counts(
    world: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    publish = Workspace.publish

    def beaten(self: Workspace) -> None:
        self.target.mkdir()
        publish(self)

    monkeypatch.setattr(Workspace, "publish", beaten)
    assert main(words(world, "--registry", str(world / "registry"))) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert "OUTPUT-001" in told
    assert COUNTED in told


@pytest.mark.parametrize("written", [0, 7])
def test_an_entry_that_the_disk_does_not_take_is_not_there(
    world: Path, written: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also if the disk took some of it, or all and then failed: no noise is drawn, so nothing is counted."""
    registry = world / "registry"
    assert main(words(world, "--registry", str(registry))) == 0
    before = registry.read_bytes()
    write = os.write
    again = words(world, "--registry", str(registry), "--spend-again", "--overwrite")

    def full(descriptor: int, content: bytes) -> int:
        if not content.startswith(b'{"at"') or not written:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(descriptor, content[:written])

    with monkeypatch.context() as patch:
        patch.setattr("safetab.files.durable.os.write", full)
        assert main(again) == 3
    assert UNSPENT in " ".join(capsys.readouterr().err.split())
    assert registry.read_bytes() == before
    with monkeypatch.context() as patch:
        DiskLog(fail_at=0).install(patch)
        assert main(again) == 3
    assert registry.read_bytes() == before
    assert main(again) == 0
    assert registry.read_bytes().startswith(before)
    assert not Registry(registry).has_entered
