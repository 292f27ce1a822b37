"""The wheel: what is in it, and that it works in an environment of its own, away from the repository."""

from __future__ import annotations

import re
import sys
import sysconfig
import tomllib
import zipfile
from pathlib import Path

import pytest

import safetab
from safetab.errors import Rule
from tools import licences
from tools.reference import rule_modules
from tools.try_wheel import COMMANDS, ROOT, build_wheel, make_environment, run_commands


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("dist"))


def test_the_wheel_has_the_package_alone(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    info = f"{'-'.join(wheel.name.split('-')[:2])}.dist-info"
    assert {name.split("/")[0] for name in names} == {"safetab", info}
    assert f"{info}/licenses/LICENSE" in names
    assert "safetab/py.typed" in names


def test_the_version_is_the_same_everywhere() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.M)
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.findall(r"^## (\d+\.\d+\.\d+) \(\d{4}-\d\d-\d\d\)$", changelog, re.M)[0]
    assert cited
    assert project["version"] == safetab.__version__ == cited[1] == newest


def test_messages_name_no_page_that_is_not_installed() -> None:
    rules = [rule for module in rule_modules() for rule in vars(module).values() if isinstance(rule, Rule)]
    assert len(rules) > 100
    assert not [rule.code for rule in rules if "docs/" in rule.text + rule.next_step]


def test_the_page_of_licences_has_every_package() -> None:
    page = (ROOT / "docs" / "reference" / "licences.md").read_text(encoding="utf-8")
    for extra in licences.EXTRAS:
        found = licences.packages(extra)
        assert len(found) > 5
        missing = [name for name in found if f"| {name} |" not in page]
        assert not missing, "run `make docs`"
    assert "not stated" not in page


@pytest.mark.long
def test_a_whole_release_from_the_wheel(wheel: Path, tmp_path: Path) -> None:
    """Dependencies are those of this environment, lent by a path; tools/try_wheel.py installs them anew."""
    programs = make_environment(sys.executable, tmp_path / "environment")
    pure = sysconfig.get_path("purelib", vars={"base": str(tmp_path / "environment")})
    Path(pure, "lent.pth").write_text(sysconfig.get_path("purelib") + "\n")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(pure)
    (programs / "safetab").write_text(
        f"#!{programs / 'python'}\nimport sys\nfrom safetab.cli.main import main\nsys.exit(main())\n"
    )
    (programs / "safetab").chmod(0o755)
    (tmp_path / "away").mkdir()
    assert list(run_commands(programs, tmp_path / "away")) == [words[0] for words in COMMANDS]
    assert (tmp_path / "away" / "report.html").stat().st_size > 10_000
