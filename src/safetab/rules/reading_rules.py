"""What a question about a release must satisfy (READ)."""

from __future__ import annotations

from safetab.errors import Rule

NO_SUCH_GROUP = Rule(
    "READ-001",
    "the release has no such group, or several of this name",
    "Name a group by its iteration code, or by its exact name where one group alone has that. `safetab view OUT --find "
    "WORD` searches for names.",
)
NO_SUCH_PLACE = Rule(
    "READ-002",
    "the release has no such region",
    "Name a region as TYPE/ID, such as COUNTY/01001, or by its exact name where one region alone has that.",
)
NOT_TABULATED = Rule(
    "READ-003",
    "the group is not tabulated in regions of this type",
    "Ask for a region of another type. `groups` in data-dictionary.json says at which levels a group is tabulated.",
)
OVERLAP = Rule(
    "READ-004",
    "the same people would be counted twice",
    'Ask for groups and regions that do not overlap, or add overlap="allow" (--overlap allow).',
)
NO_SUCH_CELLS = Rule(
    "READ-005",
    "the release has no such numbers by sex and age",
    "Ask for whole age bins of groups that have a sex by age table, and for a sex of the release. T2 lists them.",
)
OLD_RELEASE = Rule(
    "READ-006",
    "this release was written by a version that did not say what readers need to know",
    "Tabulate with this version, or use its tables as they are.",
)
QUESTION_WORDS = Rule(
    "READ-007",
    "a question names groups and regions, and a confidence above 0 and below 1",
    "Name at least one group and one region. Write a confidence of 95 % as 0.95.",
)
SIDES = Rule(
    "READ-008",
    "each side of a comparison is a pair (group, region) or a list of such pairs",
    'Write compare(("1485", "STATE/04"), ("1485", "STATE/35")), or for several comparisons a list of pairs of sides.',
)
OTHER_OPTIONS = Rule(
    "READ-009",
    "this question does not take these options",
    "Leave them out. `safetab read --help` says which question each option is for.",
)
