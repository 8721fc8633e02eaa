"""Notes of a pass under way, from which it goes on after a crash."""

from __future__ import annotations

import pickle
import secrets
import time
from pathlib import Path
from typing import Any

import joblib
from sklearn.base import clone

from .. import _validation as check
from ..data import Source
from ..io import load, save
from ._outputs import unwritten

_KEYS = {"model", "rows", "finished", "estimator", "source"}


class Checkpoint:
    """One model file with the state of a stream, or nothing where ``path`` is None.

    A note is written whole or not at all, and holds the model and the number of rows that it has
    counted: so no row counts twice, and none is lost.
    """

    def __init__(self, path: Any, every: float, estimator: Any, source: Source) -> None:
        check.number_within("checkpoint_every", every, 0, float("inf"))
        self.path, self.every = None if path is None else Path(path), every
        self.finished = False
        self._last = time.monotonic()
        if self.path is not None:
            self._of = {"estimator": _digest(estimator), "source": source.fingerprint()}

    def read(self) -> tuple[Any, int] | None:
        """The model so far and its number of rows; None where there is no note."""
        if self.path is None or not self.path.exists():
            return None
        noted = load(self.path)
        if not isinstance(noted, dict) or set(noted) != _KEYS:
            raise ValueError(f"{str(self.path)!r} is no checkpoint; name another file.")
        for what, digest in self._of.items():
            if noted[what] != digest:
                raise ValueError(
                    f"the checkpoint {str(self.path)!r} was made with another {what}, or it has "
                    "changed since; go on with that one, or delete the file to start anew."
                )
        self.finished = noted["finished"]
        return noted["model"], noted["rows"]

    def try_out(self, estimator: Any) -> None:
        """Write a note beside and take it away: what cannot be noted is told before any work."""
        if self.path is None:
            return
        trial = self.path.with_name(f".{self.path.name}.{secrets.token_hex(8)}")
        try:
            _save(clone(estimator), trial, self.path)
        finally:
            trial.unlink(missing_ok=True)

    def offer(self, model: Any, rows: int) -> None:
        """Note the state, if the last note is old enough."""
        if time.monotonic() - self._last >= self.every:
            self.write(model, rows)

    def write(self, model: Any, rows: int, *, finished: bool = False) -> None:
        """Note the state now."""
        if self.path is not None:
            noted = {"model": model, "rows": rows, "finished": finished, **self._of}
            _save(noted, self.path, self.path)
        self._last = time.monotonic()


def _save(content: Any, path: Path, told: Path) -> None:
    """Write a file; an error names the one that is told of."""
    try:
        save(content, path)
    except OSError as error:
        raise unwritten(told, error) from error


def check_place(path: Any) -> None:
    """An error where no checkpoint can be written; None is none."""
    if path is None:
        return
    path = Path(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(f"checkpoint: there is no folder {str(path.parent)!r}; make it.")
    if path.is_dir():
        raise IsADirectoryError(f"checkpoint: {str(path)!r} is a folder; name a file in it.")


def _digest(estimator: Any) -> str:
    """Of the parameters."""
    try:
        return str(joblib.hash(clone(estimator)))
    except pickle.PicklingError as error:
        raise ValueError(
            f"checkpoint: {estimator!r} holds a function without a name, which no file can hold; "
            "use a kernel of the package, or fit without a checkpoint."
        ) from error
