"""Build a report and write it to a file."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from types import ModuleType
from typing import Any

from .._core.atomic import atomic_write
from ..planning.suggestions import suggest
from ..planning.verdict import judge
from .subject import Subject


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
    """Write the report of a fitted model as one HTML file that needs no network.

    Parameters
    ----------
    model : embedding
        A fitted embedding or novelty detector, or a pipeline that ends in one.
    X : array-like of shape (n_samples, n_features)
        The fitted rows, or a random sample of them. At most 8,000 are used.
    path : str or path
        The file to write. It is written atomically.
    color : str, array-like of shape (n_samples,), Series or mapping of these, default=None
        What to color the rows by: the name of a feature, one value per row of X, or several such
        columns by name. Features can be chosen in the page in any case.
    title : str, default=None
        Title of the page. None is the name of the model.
    seconds : mapping of str to float, default=None
        Durations to show, such as ``{"read": 1.2, "fit": 0.3}``.
    n_rows : float, default=None
        The number of all rows, if X is a sample. None takes it from the model, or from X.
    feature_names : sequence of str, default=None
        Names of the features. None takes those of the fit, or of X.
    random_state : int, RandomState or None, default=0
        Seed of the sample.

    Returns
    -------
    Path
        The file.

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
    if target.is_dir():
        raise IsADirectoryError(f"{str(target)!r} is a folder; name a file in it, such as r.html.")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"folder {str(target.parent)!r} does not exist; create it first.")
    html = build(
        model,
        X,
        color=color,
        title=title,
        seconds=seconds,
        n_rows=n_rows,
        feature_names=feature_names,
        random_state=random_state,
    )
    with atomic_write(target) as unfinished:
        unfinished.write_text(html, encoding="utf-8")
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
    """Return the page that :func:`write` writes, as HTML; the parameters are the same."""
    start = time.perf_counter()
    figures, page = _import_renderers()
    subject = Subject.of(
        model,
        X,
        color=color,
        n_rows=n_rows,
        feature_names=feature_names,
        seconds=seconds,
        random_state=random_state,
    )
    drawn = figures.build(subject)
    suggestions = suggest(subject.fitted, subject.rows, subject.retention)
    subject.seconds["report"] = time.perf_counter() - start
    heading = _spaced(type(subject.fitted.estimator).__name__) if title is None else str(title)
    today = date.today().isoformat()
    html: str = page.render(heading, subject, judge(subject.model), suggestions, drawn, today)
    return html


def _import_renderers() -> tuple[ModuleType, ModuleType]:
    """Import the modules that need plotly and jinja2, before any work is done."""
    try:
        from . import figures, page
    except ImportError as error:
        raise ImportError(
            'a report needs plotly and jinja2: pip install "rskpca[report]".'
        ) from error
    return figures, page


def _spaced(name: str) -> str:
    """Insert spaces into a class name such as ReducedSetKernelPCA."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
