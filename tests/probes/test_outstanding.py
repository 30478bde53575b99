"""Records without an outcome: none forgotten while it has none, and each with the moment it was handed over."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosk.probes import _outstanding
from chaosk.probes._outstanding import Outstanding
from chaosk.probes._produce_loop import _tail


def numbers(*seqs: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Sequence numbers as the reports have them."""
    return np.array(seqs, np.int64)


def test_each_record_has_the_moment_of_its_batch() -> None:
    """Whatever order the outcomes come in."""
    found = Outstanding()
    found.sent(3, 100)
    found.sent(1, 200)
    found.sent(2, 300)
    assert found.next == 6
    assert found.reported(numbers(5, 0, 3)).tolist() == [300, 100, 200]
    assert found.left() == [(1, 100), (2, 100), (4, 300)]


def test_what_was_not_taken_is_sent_again_under_its_number() -> None:
    """A batch of which the last records did not fit: they come later, at a later moment."""
    found = Outstanding()
    found.sent(5, 100)
    found.take_back(3)
    assert found.next == 3
    found.sent(4, 200)
    assert found.left() == [(0, 100), (1, 100), (2, 100), (3, 200), (4, 200), (5, 200), (6, 200)]


def test_a_batch_that_was_not_taken_at_all_leaves_no_trace() -> None:
    """Nothing of it fits: the next batch begins with its first number."""
    found = Outstanding()
    found.sent(2, 100)
    found.sent(3, 200)
    found.take_back(2)
    found.sent(3, 300)
    assert found.left() == [(0, 100), (1, 100), (2, 300), (3, 300), (4, 300)]


def test_no_records_are_no_rows() -> None:
    """Before the first record and after the last outcome nothing is left."""
    found = Outstanding()
    assert found.left() == []
    found.sent(2, 1)
    found.reported(numbers(1, 0))
    assert found.left() == []


def test_what_is_over_is_forgotten() -> None:
    """Memory is that of the records since the oldest one without an outcome."""
    found = Outstanding()
    for batch in range(300):
        found.sent(1000, batch)
        found.reported(np.arange(1000 * batch, 1000 * batch + 1000))
    assert len(found._done) <= _outstanding._FORGET_AFTER
    assert len(found._starts) <= _outstanding._FORGET_AFTER / 1000 + 2
    found.sent(1, 999)
    assert found.left() == [(300_000, 999)]


def test_one_record_without_an_outcome_holds_what_follows() -> None:
    """A record of a partition without a leader is still known after many others."""
    found = Outstanding()
    found.sent(1, 7)
    for batch in range(100):
        found.sent(1000, 100 + batch)
        found.reported(np.arange(1 + 1000 * batch, 1001 + 1000 * batch))
    assert found.left() == [(0, 7)]
    assert found.reported(numbers(0)).tolist() == [7]
    assert found.left() == []


@given(
    st.lists(st.integers(1, 20), min_size=1, max_size=30),
    st.randoms(use_true_random=False),
    st.integers(1, 40),
)
def test_against_a_dictionary(sizes: list[int], random: object, forget_after: int) -> None:
    """Any batches and any order of outcomes: the same as a dictionary from number to moment."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_outstanding, "_FORGET_AFTER", forget_after)
        found, model, moment = Outstanding(), dict[int, int](), 0
        for size in sizes:
            moment += 10
            model |= dict.fromkeys(range(found.next, found.next + size), moment)
            found.sent(size, moment)
            some = random.sample(sorted(model), random.randint(0, len(model)))  # type: ignore[attr-defined]
            if some:
                assert found.reported(numbers(*some)).tolist() == [model.pop(seq) for seq in some]
            assert found.left() == sorted(model.items())


@pytest.mark.parametrize(
    ("seqs", "end", "tail"),
    [([], 10, 10), ([9], 10, 9), ([7, 8, 9], 10, 7), ([3, 8, 9], 10, 8), ([7, 8], 10, 10), ([0, 1, 2], 3, 0)],
)
def test_only_the_last_records_of_a_batch_are_sent_again(seqs: list[int], end: int, tail: int) -> None:
    """Behind a record that was taken the numbers are used up: a second record with one of them would be a lie."""
    assert _tail(seqs, end) == tail
