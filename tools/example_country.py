"""Writes examples/merovia: an invented country whose files look nothing like those of the United States.

Run as `python -m tools.example_country`; the same files come out every time. A test compares them with what is
committed, so that the example and its description here stay the same thing.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "examples" / "merovia"
PERSONS = 4_000

#: Code, name, weight in the population.
PEOPLES = (
    ("H1", "Arani", 30),
    ("H2", "Beshk", 12),
    ("H3", "Beshk of the Upper Valley", 4),
    ("C1", "Lumo", 25),
    ("C2", "Saltfolk", 8),
    ("C3", "Isle Lumo", 3),
    ("S1", "Norder", 40),
    ("S2", "Norder (Old Charter)", 2),
    ("S3", "Quillan", 6),
    ("XX", "Not stated", 1),
)
TONGUES = (("T1", "Arani speech", 35), ("T2", "Lumo speech", 25), ("T3", "Saltfolk cant", 3), ("T9", "Common", 60))

#: Name, iteration level, detailed only, coarse only, codes. Each stands for an alone and a combination iteration.
PEOPLE_GROUPS = (
    ("All peoples", 0, "Null", "Null", ("H1", "H2", "H3", "C1", "C2", "C3", "S1", "S2", "S3")),
    ("Highland peoples", 1, "False", "False", ("H1", "H2", "H3")),
    ("Coastal peoples", 1, "False", "False", ("C1", "C2", "C3")),
    ("Settler peoples", 1, "False", "False", ("S1", "S2", "S3")),
    ("Arani", 2, "False", "False", ("H1",)),
    ("Beshk", 2, "True", "False", ("H2",)),
    ("Beshk of the Upper Valley", 2, "True", "False", ("H3",)),
    ("All Beshk", 2, "False", "True", ("H2", "H3")),
    ("Lumo", 2, "False", "False", ("C1", "C3")),
    ("Saltfolk", 2, "False", "False", ("C2",)),
    ("Norder", 2, "False", "False", ("S1", "S2")),
    ("Quillan", 2, "True", "False", ("S3",)),
)
TONGUE_GROUPS = (
    ("Mother tongue Arani", 2, "False", "False", ("T1",)),
    ("Mother tongue Lumo or Saltfolk cant", 2, "False", "False", ("T2", "T3")),
)
#: Province, districts in it, villages in each.
PROVINCES = (("Ar", 3, 4), ("Co", 2, 5), ("Ne", 4, 3))


def _text(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "".join("|".join(row) + "\n" for row in (header, *rows))


def group_files() -> dict[str, str]:
    """The code list, the iteration files and the mapping."""
    iterations: list[tuple[str, ...]] = []
    tongues: list[tuple[str, ...]] = []
    mapping: list[tuple[str, str]] = []
    for number, (name, level, detailed, coarse, codes) in enumerate(PEOPLE_GROUPS):
        for aloneness, word in (("True", "alone"), ("False", "alone or in combination")):
            code = f"{'A' if aloneness == 'True' else 'B'}{number:02d}"
            iterations.append((code, f"{name} {word}", str(level), aloneness, detailed, coarse))
            mapping += [(code, member) for member in codes]
    for number, (name, level, detailed, coarse, codes) in enumerate(TONGUE_GROUPS):
        tongues.append((f"T{number:02d}", name, str(level), detailed, coarse))
        mapping += [(f"T{number:02d}", member) for member in codes]
    listed = [(code, name) for code, name, _ in (*PEOPLES, *TONGUES)]
    head = ("ITERATION_CODE", "ITERATION_NAME", "LEVEL")
    return {
        "codes.txt": _text(("RACE_ETH_CODE", "RACE_ETH_NAME"), listed),
        "people-groups.txt": _text((*head, "ALONE", "DETAILED_ONLY", "COARSE_ONLY"), iterations),
        "tongue-groups.txt": _text((*head, "DETAILED_ONLY", "COARSE_ONLY"), tongues),
        "groups-of-codes.txt": _text(("ITERATION_CODE", "RACE_ETH_CODE"), mapping),
    }


def villages() -> list[tuple[str, str, str]]:
    return [
        (province, f"{district:02d}", f"v{village}")
        for province, districts, count in PROVINCES
        for district in range(1, districts + 1)
        for village in range(1, count + 1)
    ]


def person_lines(seed: int = 1) -> list[tuple[str, ...]]:
    """People who live mostly among their own, most of one people, some of two or three."""
    draw = random.Random(seed)
    places = villages()
    sizes = [draw.paretovariate(0.8) for _ in places]
    lines: list[tuple[str, ...]] = []
    for _ in range(PERSONS):
        place = draw.choices(places, sizes)[0]
        home = {"Ar": "H", "Co": "C", "Ne": "S"}[place[0]]
        weights = [weight * (4 if code.startswith(home) else 1) for code, _, weight in PEOPLES]
        count = draw.choices((1, 2, 3), (90, 8, 2))[0]
        codes = list(dict.fromkeys(draw.choices([code for code, _, _ in PEOPLES], weights, k=count)))
        tongue = draw.choices([code for code, _, _ in TONGUES], [weight for _, _, weight in TONGUES])[0]
        age = min(int(draw.triangular(0, 101, 25)), 100)
        lines.append((*place, str(age), draw.choice("FM"), *codes, *["-"] * (3 - len(codes)), tongue))
    return lines


def files() -> dict[str, str]:
    """Every generated file of the example: path and text."""
    block = ("PROVINCE", "DISTRICT", "VILLAGE")
    return {f"params/{name}": text for name, text in group_files().items()} | {
        "data/villages.txt": _text(block, villages()),
        "data/people.txt": _text(
            (*block, "YEARS", "GENDER", "PEOPLE1", "PEOPLE2", "PEOPLE3", "TONGUE"), person_lines()
        ),
    }


def main() -> None:
    """Write the generated files; params/release.toml is written by hand."""
    for name, text in files().items():
        (FOLDER / name).parent.mkdir(parents=True, exist_ok=True)
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
