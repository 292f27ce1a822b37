"""`make dist`: the sdist and the wheel of this version, and beside the wheel a list of its parts (CycloneDX SBOM).

In: the repository, and the program `cyclonedx-py`. Out: files in dist/. The promise: the list is of an environment
with this wheel, the locked versions that it needs with `safetab[report]`, and nothing else.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.licences import normal_name, packages
from tools.try_wheel import ROOT, make_environment

DIST = ROOT / "dist"


def main(cyclonedx: str) -> int:
    """Write dist/ anew."""
    shutil.rmtree(DIST, ignore_errors=True)
    build = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-t", "wheel", "-d", str(DIST)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = DIST.glob("*.whl")
    parts = wheel.with_suffix(".cdx.json")
    with tempfile.TemporaryDirectory() as name:
        python = str(make_environment(sys.executable, Path(name)) / "python")
        pip = [python, "-m", "pip", "--disable-pip-version-check", "install", "-qq"]
        subprocess.run([*pip, "--require-hashes", "-r", str(ROOT / "requirements" / "run.lock")], check=True)
        subprocess.run([*pip, "--no-deps", "--no-index", str(wheel)], check=True)
        ask = [python, "-m", "pip", "list", "--format", "json"]
        installed = json.loads(subprocess.run(ask, check=True, capture_output=True).stdout)
        # What builds a wheel, and pip itself, are no parts of it.
        needed = {"safetab", *packages(""), *packages("report")}
        others = [entry["name"] for entry in installed if normal_name(entry["name"]) not in needed]
        subprocess.run([python, "-m", "pip", "uninstall", "-qq", "-y", *others], check=True)
        listing = [cyclonedx, "environment", "--pyproject", str(ROOT / "pyproject.toml"), "--output-reproducible"]
        subprocess.run([*listing, "-o", str(parts), python], check=True, capture_output=True)
    components = json.loads(parts.read_text(encoding="utf-8"))["components"]
    for file in sorted(DIST.iterdir()):
        print(f"{file.relative_to(ROOT)}  {file.stat().st_size:,} bytes")
    print(f"{len(components)} parts in the list")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
