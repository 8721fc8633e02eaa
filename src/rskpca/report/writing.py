"""Make the report and write it."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from .._core.atomic import atomic_write
from .advice import advise
from .page import page, plotly_script
from .payload import payload
from .subject import Subject
from .verdict import judge


def write(
    model: Any,
    X: Any,
    path: str | os.PathLike[str],
    *,
    color: Any = None,
    title: str | None = None,
    seconds: Mapping[str, float] | None = None,
    n_rows: float | None = None,
    feature_names: Sequence[str] | None = None,
    random_state: Any = 0,
) -> Path:
    """Write the report of a fitted model as one HTML file, which needs no network to open.

    Parameters
    ----------
    model : embedding
        Fitted; or a novelty detector, or a pipeline that ends in one of them.
    X : array-like of shape (n_samples, n_features)
        The fitted rows, or a random sample of them. At most 8,000 are looked at.
    path : str or path
        Of the file. It is written whole or not at all.
    color : str, array-like of shape (n_samples,), Series or mapping of these, default=None
        What to colour the rows by: the name of a feature, or a value for each row of X, or
        several such columns by name. The features can be chosen in the page in any case.
    title : str, default=None
        None is the name of the model.
    seconds : mapping of str to float, default=None
        What took how long, such as ``{"read": 1.2, "fit": 0.3}``.
    n_rows : float, default=None
        How many rows there are in all, where X is a sample. None is what the model knows, or
        the rows of X.
    feature_names : sequence of str, default=None
        None is those of the fit, or of X.
    random_state : int, RandomState or None, default=0
        Seed of the rows that are drawn.

    Returns
    -------
    Path
        Of the file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_digits
    >>> from rskpca import ReducedSetKernelPCA, report
    >>> X, y = load_digits(return_X_y=True)
    >>> model = ReducedSetKernelPCA(5, bandwidth=60.0).fit(X)
    >>> folder = Path(tempfile.mkdtemp())
    >>> report.write(model, X, folder / "digits.html", color={"digit": y}).name
    'digits.html'
    """
    target = Path(path)
    _check_target(target)
    text = build(
        model,
        X,
        color=color,
        title=title,
        seconds=seconds,
        n_rows=n_rows,
        feature_names=feature_names,
        random_state=random_state,
    )
    with atomic_write(target) as beside:
        beside.write_text(text, encoding="utf-8")
    return target


def build(
    model: Any,
    X: Any,
    *,
    color: Any = None,
    title: str | None = None,
    seconds: Mapping[str, float] | None = None,
    n_rows: float | None = None,
    feature_names: Sequence[str] | None = None,
    random_state: Any = 0,
) -> str:
    """The report of a fitted model as the text of an HTML file.

    Parameters
    ----------
    model : embedding
        Fitted; or a novelty detector, or a pipeline that ends in one of them.
    X : array-like of shape (n_samples, n_features)
        The fitted rows, or a random sample of them.
    color : str, array-like of shape (n_samples,), Series or mapping of these, default=None
        What to colour the rows by.
    title : str, default=None
        None is the name of the model.
    seconds : mapping of str to float, default=None
        What took how long.
    n_rows : float, default=None
        How many rows there are in all, where X is a sample.
    feature_names : sequence of str, default=None
        None is those of the fit, or of X.
    random_state : int, RandomState or None, default=0
        Seed of the rows that are drawn.

    Returns
    -------
    str
        HTML.
    """
    start = time.perf_counter()
    plotly_script()  # before any work, an error that says what to install
    subject = Subject.of(
        model,
        X,
        color=color,
        n_rows=n_rows,
        feature_names=feature_names,
        seconds=seconds,
        random_state=random_state,
    )
    verdict = judge(subject)
    advice, numbers = advise(subject, verdict), payload(subject)
    subject.seconds["report"] = time.perf_counter() - start
    heading = _spaced(_last(model)) if title is None else str(title)
    return page(heading, subject, verdict, advice, numbers, date.today().isoformat())


def _last(model: Any) -> str:
    """The class of a model, or of the last step of a pipeline."""
    return type(model[-1] if hasattr(model, "steps") else model).__name__


def _spaced(name: str) -> str:
    """ReducedSetKernelPCA, or KernelPCANovelty, as words."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)


def _check_target(path: Path) -> None:
    if path.is_dir():
        raise IsADirectoryError(f"{str(path)!r} is a folder; name a file in it, such as r.html.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {str(path.parent)!r} to write to; make it.")
