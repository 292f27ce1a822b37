"""Age bins cover every age once."""

from __future__ import annotations

import pytest

from safetab.population.ages import AgeBins


def test_labels_and_look_up_agree() -> None:
    bins = AgeBins((0, 18, 45, 65), 115)
    assert bins.labels == ((0, 17), (18, 44), (45, 64), (65, 115))
    by_age = bins.bin_of_age()
    assert len(by_age) == 116
    for number, (first, last) in enumerate(bins.labels):
        assert [age for age in range(116) if by_age[age] == number] == list(range(first, last + 1))


@pytest.mark.parametrize("starts", [(), (1, 5), (0, 5, 5), (0, 9, 8), (0, 116)])
def test_bins_that_do_not_cover_are_refused(starts: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="age bins"):
        AgeBins(starts, 115)
