"""Sources for downloads; only ``read`` and ``read_openml`` access the network."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol
from urllib.request import urlopen

import numpy as np
from numpy.typing import NDArray

Table = tuple[NDArray[np.generic], NDArray[np.generic]]
TIMEOUT = 60  # seconds


class Source(Protocol):
    """Protocol for sources from which a data set can be downloaded."""

    @property
    def where(self) -> str:
        """Address shown in error messages."""

    def fetch(self) -> Table:
        """Download rows and classes."""


@dataclass(frozen=True)
class Files:
    """Files from the publisher, in the publisher's format, gzipped or not."""

    urls: tuple[str, ...]
    parse: Callable[..., Table]

    @property
    def where(self) -> str:
        return " and ".join(self.urls)

    def fetch(self) -> Table:
        return self.parse(*(_decompress(read(url)) for url in self.urls))


@dataclass(frozen=True)
class OpenML:
    """A data set on openml.org; ``classes`` maps its labels to integers."""

    number: int
    classes: Mapping[str, int] | None = None

    @property
    def where(self) -> str:
        return f"https://www.openml.org/d/{self.number}"

    def fetch(self) -> Table:
        X, y = read_openml(self.number)
        return X, np.array([int(v) if self.classes is None else self.classes[v] for v in y])


def read(url: str) -> bytes:
    """Download a file."""
    with urlopen(url, timeout=TIMEOUT) as response:
        return bytes(response.read())


def read_openml(number: int) -> Table:
    """Download rows and labels from OpenML."""
    from sklearn.datasets import fetch_openml

    options = {"as_frame": False, "parser": "auto", "cache": False, "n_retries": 1}
    found = fetch_openml(data_id=number, **options)
    return np.asarray(found.data), np.asarray(found.target)


def _decompress(content: bytes) -> bytes:
    return gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
