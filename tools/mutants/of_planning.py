"""Mutants of planning: mistakes that would promise people detail or margins that they do not get."""

from __future__ import annotations

from tools.mutants.mutant import Mutant, plant

_TESTS = "tests/unit/planning/"
_CHANCES = (_TESTS + "test_detail.py",)
_MARGINS = (_TESTS + "test_margins.py",)
_BUDGETS = (_TESTS + "test_budgets.py",)
_SIZES = (_TESTS + "test_sizes.py",)
_DETAIL = "planning/detail.py"

PLANNING_MUTANTS: tuple[Mutant, ...] = (
    plant("planning: a threshold is exceeded, not reached", _DETAIL,
          "threshold - sizes) for threshold", "threshold + 1 - sizes) for threshold", tests=_CHANCES),
    plant("planning: suppression forgotten", _DETAIL, "chances[:, 0] * passes", "chances[:, 0]", tests=_CHANCES),
    plant("planning: suppression drops one count fewer", _DETAIL, "(dropped + 1 - sizes)", "(dropped - sizes)",
          tests=_CHANCES),
    plant("planning: suppression at every level", _DETAIL,
          "release.zero_suppression_chance if planned.level.geography.local else None",
          "release.zero_suppression_chance", tests=_CHANCES),
    plant("planning: total-only groups with the noise of stage 2", _DETAIL,
          "self.noise.event(Stage.TOTAL_ONLY).law if total_only else self.stage_2", "self.stage_2", tests=_CHANCES),
    plant("planning: small chances as differences of large ones", _DETAIL, "tail.between(low, high)",
          "tail(low) - tail(high)", tests=_CHANCES),
    plant("planning: estimates are rounded to nothing", "planning/margins.py", "self._at_least(m * c + 1)",
          "self._at_least((m + 1) * c)", tests=_MARGINS),
    plant("planning: weights swapped in margins", "planning/margins.py",
          "a, b = weights(stage_1, law, n_cells)", "b, a = weights(stage_1, law, n_cells)", tests=_MARGINS),
    plant("planning: widths without what was published", "planning/widths.py",
          "first = 0 if low is None else int(", "first = 0 and int(", tests=(_TESTS + "test_widths.py",)),
    plant("planning: the factor is rounded up", "planning/budgets.py", "Scaling(kept * unit, at_kept)",
          "Scaling(lost * unit, at_lost)", tests=_BUDGETS),
    plant("planning: the factor of the first run", "planning/budgets.py", "costliest(list(scaled)).epsilon",
          "next(scaled).epsilon", tests=_BUDGETS),
    plant("planning: a budget for a margin of one more", "planning/budgets.py", "n_cells) <= moe",
          "n_cells) <= moe + 1", tests=_BUDGETS),
    plant("planning: every group has two stages", "planning/expected.py",
          "_chances_of_groups(rule, known, is_total_only[known.iteration])",
          "_chances_of_groups(rule, known, np.zeros(len(known), dtype=np.bool_))", tests=_SIZES),
    plant("planning: counts in place of estimates", "planning/sizes.py",
          "rows[_ESTIMATE] if _ESTIMATE in rows.column_names else rows[COUNT]", "rows[COUNT]", tests=_SIZES),
    plant("planning: a guess without its delta", "planning/best_guess.py", "* false_positive + delta)",
          "* false_positive)", tests=(_TESTS + "test_best_guess.py",)),
)  # fmt: skip
