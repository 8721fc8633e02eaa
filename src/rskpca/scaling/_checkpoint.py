"""Checkpoints, which allow a fit to continue after a crash."""

from __future__ import annotations

import pickle
import secrets
import time
from pathlib import Path
from typing import Any

import joblib
from sklearn.base import clone

from .. import _validation as check
from .._core.atomic import check_replaceable
from ..data import Source
from ..io import load, save
from ._outputs import not_written

_KEYS = {"model", "rows", "finished", "estimator", "source"}


class Checkpoint:
    """Checkpoint file with a partially fitted model and the number of rows it has seen.

    Both are written to one file atomically, so no row is lost or counted twice. If ``path`` is
    None, nothing is saved.
    """

    model: Any

    def __init__(self, path: Any, every: float, estimator: Any, source: Source) -> None:
        check.number_within("checkpoint_every", every, 0, float("inf"))
        self.path, self.every = None if path is None else Path(path), every
        self.estimator, self.rows, self.finished = estimator, 0, False
        self._last = time.monotonic()
        if self.path is not None:
            self._digests = {"estimator": _digest(estimator), "source": source.fingerprint()}

    def resume(self) -> bool:
        """Load the state, or return False if the file does not exist."""
        if self.path is None or not self.path.exists():
            return False
        saved = load(self.path)
        if not isinstance(saved, dict) or set(saved) != _KEYS:
            raise ValueError(f"{str(self.path)!r} is not a checkpoint; choose another file.")
        for what, digest in self._digests.items():
            if saved[what] != digest:
                raise ValueError(
                    f"the checkpoint {str(self.path)!r} was written for a different {what}, or the "
                    f"{what} has changed since; use the original {what}, or delete the file to "
                    "start over."
                )
        self.model, self.rows, self.finished = saved["model"], saved["rows"], saved["finished"]
        return True

    def check_writable(self) -> None:
        """Write and delete a test file, so that errors are raised before any work is done."""
        if self.path is None:
            return
        trial = self.path.with_name(f".{self.path.name}.{secrets.token_hex(8)}")
        try:
            _save(clone(self.estimator), trial, self.path)
        finally:
            trial.unlink(missing_ok=True)

    def start(self, model: Any) -> None:
        """Save the initial model, which has seen no rows."""
        self.model, self.rows = model, 0
        self._write()

    def advance(self, rows: int) -> None:
        """Update the number of rows, and save the state if ``every`` seconds have passed."""
        self.rows = rows
        if time.monotonic() - self._last >= self.every:
            self._write()

    def finish(self) -> None:
        """Save the state after the last row."""
        self.finished = True
        self._write()

    def _write(self) -> None:
        if self.path is not None:
            state = {"model": self.model, "rows": self.rows, "finished": self.finished}
            _save({**state, **self._digests}, self.path, self.path)
        self._last = time.monotonic()


def _save(content: Any, path: Path, named: Path) -> None:
    """Save to ``path``, reporting errors under the file name the user chose."""
    try:
        save(content, path)
    except OSError as error:
        raise not_written(named, error) from error


def check_checkpoint_path(path: Any) -> None:
    """Raise an error if a checkpoint cannot be written to this path; None is allowed."""
    if path is None:
        return
    path = Path(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(
            f"checkpoint: the folder {str(path.parent)!r} does not exist; create it."
        )
    if path.is_dir():
        raise IsADirectoryError(f"checkpoint: {str(path)!r} is a folder; pass a file name.")
    check_replaceable(path)


def _digest(estimator: Any) -> str:
    """Return a digest of the estimator's parameters."""
    try:
        return str(joblib.hash(clone(estimator)))
    except pickle.PicklingError as error:
        raise ValueError(
            f"checkpoint: {estimator!r} contains an anonymous function, which cannot be saved; use "
            "a kernel from rskpca, or fit without a checkpoint."
        ) from error
