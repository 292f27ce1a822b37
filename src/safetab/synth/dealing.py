"""Dealing cards: filling places of given weights so that every kind of card is used as often as it should be.

In: a deck, which says how many persons each card stands for, and places, each standing for a number of persons. Out: a
card for each place. Promise: places are dealt from the heaviest to the lightest and in proportion to what is left, so
that the places of weight 1, which come last, use up the deck nearly exactly. No set of places has two cards of one
kind.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from safetab.synth.draws import Floats, Stream

Indices = npt.NDArray[np.int64]

#: The weights that sets can have: 1, 2, 3, 4, 6, 8, 12, 16 and so on.
_WEIGHTS = np.array([1, *(step << shift for shift in range(40) for step in (2, 3))], dtype=np.int64)
_MOST_SWAPS = 12
#: So few places are filled one by one.
_FEW = 60
#: The card of a place that stays empty.
EMPTY = -1


def whole(sizes: Floats, stream: Stream) -> Indices:
    """Whole numbers with the same sum, rounded; each differs by less than 1. Small sizes are rounded at random."""
    edges = np.floor(np.cumsum(sizes) + float(stream.uniforms(1)[0]) + 1e-9)
    return np.diff(edges, prepend=0).astype(np.int64)


def weights_of(persons: int, tilt: float, heaviest: float) -> Indices:
    """Weights, largest first, that add up to `persons`: few heavy ones and many light ones.

    The weights are 1, 2, 3, 4, 6, 8, 12 and so on; those of size w together have a share that grows as w to the power
    `tilt`. None is heavier than a share `heaviest` of the persons.
    """
    sizes, many = _weight_classes(persons, tilt, heaviest)
    return np.repeat(sizes[::-1], many[::-1])


def tilt_for(persons: Sequence[int], wanted: float, heaviest: float) -> float:
    """The tilt with which `weights_of`, for each of these numbers of persons, gives so many weights together."""
    low, high = -1.0, 2.0
    for _ in range(20):
        tilt = (low + high) / 2
        many = sum(int(_weight_classes(some, tilt, heaviest)[1].sum()) for some in persons)
        low, high = (tilt, high) if many > wanted else (low, tilt)
    return tilt


def _weight_classes(persons: int, tilt: float, heaviest: float) -> tuple[Indices, Indices]:
    """The weights that occur, and how many there are of each."""
    sizes = _WEIGHTS[: max(1, int(np.searchsorted(_WEIGHTS, heaviest * persons, side="right")))]
    share = sizes**tilt
    many = [0] * len(sizes)
    left, before = persons, 0.0
    # Plain numbers: for so few classes that is several times faster than arrays.
    portions, plain_sizes = (persons * share / share.sum()).tolist(), sizes.tolist()
    for number in range(len(sizes) - 1, 0, -1):
        # What a class cannot use goes to the next lighter one.
        before += portions[number]
        many[number] = int(max(0.0, before - (persons - left)) // plain_sizes[number])
        left -= many[number] * plain_sizes[number]
    many[0] = left
    return sizes, np.array(many, dtype=np.int64)


def deal(deck: Indices, room: Indices, places: int, weight: int, stream: Stream) -> Indices:
    """Cards for some places of one weight, in random order; `room` is how many such places each card can fill."""
    share = np.maximum(deck, 0).astype(np.float64)
    if not share.any():
        share = np.ones(len(deck))
    wanted = whole(places * share / share.sum(), stream)
    taken = np.minimum(wanted, room)
    short = places - int(taken.sum())
    spare = (room - taken).astype(np.float64)
    if short > 0 and spare.sum() >= short:
        # In proportion to what is left, which never takes more than there is.
        more = np.minimum(np.floor(spare * short / spare.sum()).astype(np.int64), room - taken)
        taken += more
        short -= int(more.sum())
        most = np.argsort(-(room - taken), kind="stable")[:short]
        taken[most] += 1
        short -= len(most)
    deck -= taken * weight
    # Places for which no card has enough left stay empty.
    cards = np.concatenate([np.repeat(np.arange(len(deck)), taken), np.full(max(0, short), EMPTY)])
    return cards[np.argsort(stream.words(len(cards)), kind="stable")]


def swap_apart(cards: Indices, kind: Indices, stream: Stream, most: int = _MOST_SWAPS) -> None:
    """Swap cards between sets, which are rows, until no set has two cards of the same kind, or it is tried enough."""
    rows = np.arange(len(cards))
    for _ in range(most):
        rows, column = _repeats(cards, kind, rows)
        if not len(rows) or len(cards) < 2:
            return
        other = (stream.uniforms(len(rows)) * len(cards)).astype(np.int64)
        filled = (cards[other] != EMPTY).sum(axis=1)
        place = (stream.uniforms(len(rows)) * np.maximum(filled, 1)).astype(np.int64)
        # Each partner once, and none that is to be swapped itself.
        _, first = np.unique(other, return_index=True)
        is_mine = np.zeros(len(cards), dtype=bool)
        is_mine[rows] = True
        first = first[~is_mine[other[first]]]
        mine, theirs = (rows[first], column[first]), (other[first], place[first])
        cards[mine], cards[theirs] = cards[theirs], cards[mine]
        rows = np.concatenate([rows, other[first]])


def replace_repeats(cards: Indices, kind: Indices, deck: Indices, weight: int, stream: Stream) -> None:
    """Where a set has two cards of the same kind, put one back and give the set another card, or none."""
    rows, column = _put_back(cards, kind, deck, weight)
    if len(rows) > _FEW:
        cards[rows, column] = deal(deck, np.maximum(deck, 0) // weight, len(rows), weight, stream)
        _put_back(cards, kind, deck, weight)
        return
    for row, place in zip(rows.tolist(), column.tolist(), strict=True):
        is_taken = np.isin(kind, kind[cards[row][cards[row] != EMPTY]])
        most = int(np.argmax(np.where(is_taken, -1, deck)))
        if not is_taken[most] and deck[most] >= weight:
            deck[most] -= weight
            cards[row, place] = most


def _put_back(cards: Indices, kind: Indices, deck: Indices, weight: int) -> tuple[Indices, Indices]:
    """Put all second cards of a kind back into the deck; returns the places that are empty now."""
    found: list[tuple[Indices, Indices]] = []
    rows, column = _repeats(cards, kind, np.arange(len(cards)))
    while len(rows):
        np.add.at(deck, cards[rows, column], weight)
        cards[rows, column] = EMPTY
        found.append((rows, column))
        rows, column = _repeats(cards, kind, rows)
    nothing = np.empty(0, dtype=np.int64)
    return np.concatenate([nothing, *(r for r, _ in found)]), np.concatenate([nothing, *(c for _, c in found)])


def _repeats(cards: Indices, kind: Indices, rows: Indices) -> tuple[Indices, Indices]:
    """The sets among `rows` that have two cards of a kind, and the place of the second one."""
    kinds = np.where(cards[rows] == EMPTY, -1 - np.arange(cards.shape[1]), kind[cards[rows]])
    column = np.zeros(len(rows), dtype=np.int64)
    for place in range(1, cards.shape[1]):
        repeated = (kinds[:, :place] == kinds[:, place : place + 1]).any(axis=1)
        column[repeated & (column == 0)] = place
    return rows[column > 0], column[column > 0]
