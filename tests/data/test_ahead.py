"""Reading ahead: the same items, bounded, and no thread is left."""

import threading
import time

import pytest

from rskpca.data import read_ahead


@pytest.fixture(autouse=True)
def _no_thread_is_left():
    before = threading.active_count()
    yield
    assert threading.active_count() == before


def test_the_items_come_in_order():
    assert list(read_ahead(range(100))) == list(range(100))
    assert list(read_ahead([])) == []


def test_it_runs_ahead_by_a_few():
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
    assert len(drawn) == 4  # one used, two waiting, one in hand
    ahead.close()


def test_an_error_comes_in_its_turn():
    def items():
        yield 1
        raise OSError("the disk is gone")

    ahead = read_ahead(items())
    assert next(ahead) == 1
    with pytest.raises(OSError, match="the disk is gone"):
        next(ahead)


def test_an_interruption_ends_the_thread():
    ahead = read_ahead(iter(int, 1))  # endless
    next(ahead)
    with pytest.raises(KeyboardInterrupt):
        ahead.throw(KeyboardInterrupt)
