"""Findings say where, what and what next; the exit status follows from the kind of error."""

from __future__ import annotations

from safetab.errors import Finding, InputError, MachineError, Rule, SafetabError, UsageError

RULE = Rule("TEST-001", "the moon is full", "Wait.")
OTHER = Rule("TEST-0002", "the sun is up", "Sleep.")


def test_a_finding_with_a_key_reads_as_a_sentence() -> None:
    finding = Finding(RULE, "release.toml", key="level[3].budget", seen='"-0.159"')
    assert finding.sentence() == 'release.toml, level[3].budget is "-0.159": the moon is full.'


def test_a_finding_shows_five_lines_and_counts_the_rest() -> None:
    finding = Finding.at_lines(RULE, "a.txt", list(range(2, 14)))
    assert finding.place == "a.txt, lines 2, 3, 4, 5, 6 and 7 more"
    assert finding.count == 12
    assert Finding.at_lines(RULE, "a.txt", [7]).place == "a.txt, line 7"


def test_each_kind_of_error_has_its_exit_status() -> None:
    statuses = [kind(Finding(RULE, "x")).exit_status for kind in (InputError, UsageError, MachineError)]
    assert statuses == [1, 2, 3]


def test_an_error_carries_every_finding() -> None:
    error = InputError([Finding(RULE, "a"), Finding(RULE, "b")], state="No data was read.")
    assert str(error).count("TEST-001") == 2
    assert error.state == "No data was read."


def test_the_text_of_an_error_says_what_happened_and_what_to_do() -> None:
    for kind in (InputError, UsageError, MachineError):
        error = kind([Finding(RULE, "a.txt", lines=(7,)), Finding(OTHER, "b")], state="No data was read.")
        assert str(error).splitlines() == [
            "TEST-001  a.txt, line 7: the moon is full.",
            "          No data was read. Wait.",
            "TEST-0002  b: the sun is up.",
            "           No data was read. Sleep.",
        ]


def test_every_kind_of_error_is_in_the_tree() -> None:
    tree = SafetabError.__doc__ or ""
    for kind in SafetabError.__subclasses__():
        line = next(line for line in tree.splitlines() if f"-- {kind.__name__} " in line)
        assert line.endswith(f"exit status {kind.exit_status}")
