"""Files against hashes, the ledger against its seals: one changed byte anywhere is found."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import safetab
from tests import profile
from tests.worlds import readable, seals
from tests.worlds.merovia import MEROVIA

CHANGES = profile.size(quick=40, long=200)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A signed release of Merovia in `out`, another one of the same parameters in `other`, and keys."""
    folder = tmp_path_factory.mktemp("sealed")
    private, _ = seals.write_keys(folder)
    seals.write_keys(folder, b"other")
    safetab.tabulate(MEROVIA / "params", MEROVIA / "data", folder / "out", sign=private)
    safetab.tabulate(MEROVIA / "params", MEROVIA / "data", folder / "other")
    return folder


@pytest.fixture
def out(world: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(world / "out", tmp_path / "out"))


def codes(out: Path, **options: Path) -> list[str]:
    return sorted({finding.rule.code for finding in safetab.verify(out, **options).findings})


def test_what_was_written_is_sound(world: Path, out: Path) -> None:
    report = safetab.verify(out, params=MEROVIA / "params", key=world / "k-public.pem")
    assert report.is_sound
    assert (report.files, report.rows) == (9, sum(file.read_bytes().count(b"\n") - 1 for file in out.glob("t?/*.csv")))
    # Nothing is written, and nothing else counts: not the folder's place, not times.
    os.utime(out / "ledger.json")
    assert not codes(out)


def test_what_python_shows_of_a_report_is_a_line(out: Path) -> None:
    rows = safetab.verify(out).rows
    assert repr(safetab.verify(out)) == f"VerifyReport({str(out)!r}, sound, 9 files, {rows:,} rows)"
    (out / "t1" / "more.csv").write_text("")
    assert repr(safetab.verify(out)) == f"VerifyReport({str(out)!r}, 1 finding, 9 files, 0 rows)"


def test_what_is_no_path_is_refused_by_its_name(out: Path) -> None:
    wrong: Any = 3
    with pytest.raises(TypeError, match=r"^out is of type int: pass a path"):
        safetab.verify(wrong)
    for name in ("params", "key"):
        with pytest.raises(TypeError, match=f"^{name} is of type int: pass a path"):
            safetab.verify(out, **{name: wrong})


def test_the_ledger_lists_every_other_file(out: Path) -> None:
    listed = seals.read_ledger(out)["outputs"]
    found = {path.relative_to(out).as_posix(): path for path in out.rglob("*") if path.is_file()}
    assert set(found) - set(listed) == {"ledger.json", "ledger.sha256", "ledger.sig"}
    assert listed == {name: sha256(found[name].read_bytes()).hexdigest() for name in listed}
    assert len({path.stat().st_mtime for path in found.values()}) == 1


@profile.tries("single-byte changes of a release", CHANGES)
def test_one_changed_byte_anywhere_is_found(out: Path) -> None:
    dice = random.Random(22 if CHANGES < 200 else None)
    files = sorted(path for path in out.rglob("*") if path.is_file())
    changed = set()
    for number in range(CHANGES):
        # Each file in turn, so that small ones are tried as often as large ones.
        file = files[number % len(files)]
        content = file.read_bytes()
        place = dice.randrange(len(content))
        other = bytes([content[place] ^ dice.randrange(1, 256)])
        file.write_bytes(content[:place] + other + content[place + 1 :])
        found = safetab.verify(out).findings
        assert found, f"{file.name}, byte {place}"
        assert {finding.rule.code for finding in found} <= {"VERIFY-001", "VERIFY-004", "VERIFY-041"}
        changed |= {finding.file for finding in found}
        file.write_bytes(content)
    assert not codes(out)
    assert changed >= {"ledger.json", "ledger.sig", "data-dictionary.json", "t1/merovia.csv"}


def _from_other(*names: str) -> Callable[[Path, Path], object]:
    """Put files of another release of the same parameters in place: every number in them is consistent."""

    def change(out: Path, other: Path) -> None:
        for name in names:
            for file in [name] if "." in name else [path.name for path in (other / name).iterdir()]:
                target = name if "." in name else f"{name}/{file}"
                shutil.copyfile(other / target, out / target)

    return change


def _link(file: Path) -> None:
    """Move a file elsewhere, and leave a link to it."""
    file.rename(file.parents[2] / "kept")
    file.symlink_to(file.parents[2] / "kept")


STALE: dict[str, tuple[Callable[[Path, Path], object], str]] = {
    "all tables of another release": (_from_other("t1", "t2", "parquet/t1", "parquet/t2"), "VERIFY-001"),
    "one text file of another release": (_from_other("t1"), "VERIFY-001"),
    "the ledger of another release": (_from_other("ledger.json"), "VERIFY-004"),
    "the sealed ledger of another release": (_from_other("ledger.json", "ledger.sha256"), "VERIFY-001"),
    "everything but the signature": (
        _from_other("t1", "t2", "parquet/t1", "parquet/t2", "ledger.json", "ledger.sha256"),
        "VERIFY-003",
    ),
    "a file removed": (lambda out, _: (out / "t2" / "merovia.csv").unlink(), "VERIFY-002"),
    "a folder removed": (lambda out, _: shutil.rmtree(out / "parquet" / "geography"), "VERIFY-002"),
    "the digest removed": (lambda out, _: (out / "ledger.sha256").unlink(), "VERIFY-002"),
    "the signature removed": (lambda out, _: (out / "ledger.sig").unlink(), "VERIFY-002"),
    "a file added": (lambda out, _: (out / "parquet" / "t1" / "more.parquet").write_bytes(b""), "VERIFY-003"),
    "a hidden file added": (lambda out, _: (out / ".note").write_bytes(b"x"), "VERIFY-003"),
    "an empty folder added": (lambda out, _: (out / "more").mkdir(), "VERIFY-003"),
    "files exchanged": (
        lambda out, _: (
            (out / "t1" / "merovia.csv").rename(out / "x"),
            (out / "t2" / "merovia.csv").rename(out / "t1" / "merovia.csv"),
            (out / "x").rename(out / "t2" / "merovia.csv"),
        ),
        "VERIFY-001",
    ),
    "a link in place of a file": (
        lambda out, _: _link(out / "t1" / "merovia.csv"),
        "VERIFY-003",
    ),
    "a signature of another ledger": (
        lambda out, _: (out / "ledger.sig").write_bytes(bytes(64)),
        "VERIFY-041",
    ),
}


@pytest.mark.parametrize("name", STALE)
def test_forgeries_that_leave_hashes_stale(world: Path, out: Path, name: str) -> None:
    change, code = STALE[name]
    change(out, world / "other")
    assert code in codes(out)


def test_a_consistent_forgery_with_fresh_hashes_needs_the_key(world: Path, out: Path) -> None:
    """Nothing in it is wrong but that the publisher has not signed it."""
    forged = Path(shutil.copytree(world / "other", out.parent / "forged"))
    assert not codes(forged)
    assert codes(forged, key=world / "k-public.pem") == ["VERIFY-040"]
    shutil.copyfile(out / "ledger.sig", forged / "ledger.sig")
    public = seals.read_ledger(out)["signing_key"]
    seals.change_ledger(forged, lambda ledger: ledger.update(signing_key=public))
    assert codes(forged) == ["VERIFY-041"]
    assert codes(forged, key=world / "k-public.pem") == ["VERIFY-041"]


def test_another_key_is_refused(world: Path, out: Path) -> None:
    assert codes(out, key=world / "other-public.pem") == ["VERIFY-042"]
    signed_by_other = out.parent / "signed-by-other"
    private = world / "other-private.pem"
    safetab.tabulate(MEROVIA / "params", MEROVIA / "data", signed_by_other, sign=private)
    assert codes(signed_by_other, key=world / "k-public.pem") == ["VERIFY-042"]
    assert not codes(signed_by_other, key=world / "other-public.pem")


def test_files_that_are_no_keys(world: Path, out: Path, tmp_path: Path) -> None:
    (tmp_path / "no.pem").write_text("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n")
    for file in (tmp_path / "no.pem", tmp_path / "nowhere.pem", world / "k-private.pem"):
        with pytest.raises(safetab.UsageError, match="KEY-002"):
            safetab.verify(out, key=file)
    for file in (tmp_path / "no.pem", tmp_path / "nowhere.pem", world / "k-public.pem"):
        with pytest.raises(safetab.UsageError, match="KEY-001") as refused:
            safetab.tabulate(MEROVIA / "params", MEROVIA / "data", tmp_path / "unsigned", sign=file)
        assert "BEGIN" not in str(refused.value)
        assert not (tmp_path / "unsigned").exists()


def test_a_key_in_the_output_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    private, _ = seals.write_keys(tmp_path / "out")
    with pytest.raises(safetab.UsageError, match=r"OUTPUT-00[45]"):
        safetab.tabulate(MEROVIA / "params", MEROVIA / "data", tmp_path / "out", sign=private, overwrite=True)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="there is no openssl")
def test_other_tools_can_check_the_seals(world: Path, out: Path) -> None:
    subprocess.run(["sha256sum", "--check", "--quiet", "ledger.sha256"], cwd=out, check=True)
    words: list[str | Path] = ["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", world / "k-public.pem", "-rawin"]
    words += ["-in", "ledger.json", "-sigfile", "ledger.sig"]
    assert b"Verified Successfully" in subprocess.run(words, cwd=out, check=True, capture_output=True).stdout


def test_a_release_of_an_earlier_version(out: Path) -> None:
    content = seals.read_ledger(out)
    del content["outputs"], content["signing_key"]
    (out / "ledger.sha256").unlink()
    (out / "ledger.sig").unlink()
    (out / "ledger.json").write_text(json.dumps(content))
    assert codes(out) == ["VERIFY-005"]


def test_a_folder_that_is_no_release(tmp_path: Path) -> None:
    with pytest.raises(safetab.InputError, match="USAGE-004"):
        safetab.verify(tmp_path)


def test_other_parameters(out: Path, tmp_path: Path) -> None:
    params = Path(shutil.copytree(MEROVIA / "params", tmp_path / "params"))
    assert not codes(out, params=params)
    file = params / "release.toml"
    file.write_text(file.read_text(encoding="utf-8") + "# a comment\n", encoding="utf-8")
    assert codes(out, params=params) == ["VERIFY-030"]
    assert {finding.file for finding in safetab.verify(out, params=params).findings} == {"release.toml"}


def test_parameters_of_another_release_are_one_finding(out: Path, tmp_path: Path) -> None:
    """Nearly everything differs, and one sentence says why."""
    other = readable.write(tmp_path / "us") / "params"
    (finding,) = safetab.verify(out, params=other).findings
    assert (finding.rule.code, finding.file) == ("VERIFY-030", str(other))
    assert 'that of the ledger is "Merovia, peoples and mother tongues"' in finding.seen
