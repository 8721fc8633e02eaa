"""Test that read_ahead yields the items unchanged, limits its queue and stops its thread."""

import threading
import time

import pytest

from rskpca.data import read_ahead


@pytest.fixture(autouse=True)
def _no_thread_survives():
    before = threading.active_count()
    yield
    assert threading.active_count() == before


def test_items_are_yielded_in_order():
    assert list(read_ahead(range(100))) == list(range(100))
    assert list(read_ahead([])) == []


def test_only_a_few_items_are_prefetched():
    drawn = []

    def items():
        for i in range(100):
            drawn.append(i)
            yield i

    ahead = read_ahead(items(), depth=2)
    next(ahead)
    deadline = time.monotonic() + 10
    while len(drawn) < 4 and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.1)
    assert len(drawn) == 4  # one in use, two in the queue, one held by the thread
    ahead.close()


def test_an_error_is_raised_after_the_preceding_items():
    def items():
        yield 1
        raise OSError("disk failure")

    ahead = read_ahead(items())
    assert next(ahead) == 1
    with pytest.raises(OSError, match="disk failure"):
        next(ahead)


def test_an_interrupt_ends_the_thread():
    ahead = read_ahead(iter(int, 1))  # an infinite iterator
    next(ahead)
    with pytest.raises(KeyboardInterrupt):
        ahead.throw(KeyboardInterrupt)
