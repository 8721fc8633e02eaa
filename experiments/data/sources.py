"""Where data are downloaded from. All that touches the network is ``read`` and ``read_openml``."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol
from urllib.request import urlopen

import numpy as np
from numpy.typing import NDArray

Table = tuple[NDArray[np.generic], NDArray[np.generic]]
SECONDS = 60


class Source(Protocol):
    """A place that has a data set."""

    @property
    def where(self) -> str:
        """For people."""

    def fetch(self) -> Table:
        """Rows and classes."""


@dataclass(frozen=True)
class Files:
    """The publisher's files, in the publisher's format; unpacked where they are gzipped."""

    urls: tuple[str, ...]
    parse: Callable[..., Table]

    @property
    def where(self) -> str:
        return " and ".join(self.urls)

    def fetch(self) -> Table:
        return self.parse(*(unpacked(read(url)) for url in self.urls))


@dataclass(frozen=True)
class OpenML:
    """A data set of openml.org; ``classes`` says what its labels are called here."""

    number: int
    classes: Mapping[str, int] | None = None

    @property
    def where(self) -> str:
        return f"https://www.openml.org/d/{self.number}"

    def fetch(self) -> Table:
        X, y = read_openml(self.number)
        return X, np.array([int(v) if self.classes is None else self.classes[v] for v in y])


def read(url: str) -> bytes:
    """The bytes behind an address."""
    with urlopen(url, timeout=SECONDS) as response:
        return bytes(response.read())


def read_openml(number: int) -> Table:
    """Rows and labels, as OpenML has them."""
    from sklearn.datasets import fetch_openml

    options = {"as_frame": False, "parser": "auto", "cache": False, "n_retries": 1}
    found = fetch_openml(data_id=number, **options)
    return np.asarray(found.data), np.asarray(found.target)


def unpacked(content: bytes) -> bytes:
    """Without gzip, where there is any."""
    return gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
