"""Build a report and write it to a file."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from .._core.atomic import atomic_write, check_replaceable
from .._format import missing_package
from ..planning.suggestions import suggest
from ..planning.verdict import judge
from .subject import Subject


class Page(NamedTuple):
    """A report as HTML, and a sentence on the rows and features that it omits, or ""."""

    html: str
    excerpt: str


def write(
    model: Any,
    X: Any,
    path: str | os.PathLike[str],
    *,
    color: Any = None,
    ids: Any = None,
    title: str | None = None,
    seconds: Mapping[str, float] | None = None,
    n_rows: float | None = None,
    feature_names: Sequence[str] | None = None,
    as_command: Callable[[Mapping[str, Any]], str] | None = None,
    random_state: Any = 0,
) -> Path:
    """Write a report on a fitted model as a single HTML file that works offline.

    Parameters
    ----------
    model : embedding
        A fitted embedding or novelty detector, or a pipeline that ends in one.
    X : array-like of shape (n_samples, n_features)
        The fitted rows, or a random sample of them. At most 50,000 rows are shown, fewer if they
        have many features.
    path : str or path
        The output file, which is written atomically.
    color : str, array-like of shape (n_samples,), Series or mapping of these, default=None
        Values to color the rows by: a feature name, one value per row of X, or a mapping of names
        to such columns, which can also be shown on hover, searched and exported. Features can
        always be selected on the page.
    ids : array-like of shape (n_samples,), Series or mapping, default=None
        Numbers or text that identify the rows on hover, in searches and in exported selections,
        which use the name of a Series or the only key of a mapping as the name of the column. If
        None, the index of a data frame is used or, for other data, row numbers from 0.
    title : str, default=None
        Title of the page. If None, the class name of the model is used.
    seconds : mapping of str to float, default=None
        Durations to show, such as ``{"read": 1.2, "fit": 0.3}``.
    n_rows : float, default=None
        Total number of rows, if X is a sample. If None, it is taken from the model or from X.
    feature_names : sequence of str, default=None
        Feature names. If None, they are taken from the fit or from X.
    as_command : callable, default=None
        Function that converts the parameters that a suggestion changes, such as ``{"ell": 5.6}``,
        to a shell command, or to "" if there is none. If None, suggestions are shown as Python
        code.
    random_state : int, RandomState or None, default=0
        Seed for the sample.

    Returns
    -------
    Path
        The path of the file.

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
        raise IsADirectoryError(f"{str(target)!r} is a folder; pass a file name such as r.html.")
    if not target.parent.is_dir():
        raise FileNotFoundError(
            f"the folder {str(target.parent)!r} does not exist; create it first."
        )
    check_replaceable(target)
    html = build(
        model, X, color=color, ids=ids, title=title, seconds=seconds, n_rows=n_rows,
        feature_names=feature_names, as_command=as_command, random_state=random_state,
    )  # fmt: skip
    write_html(target, html)
    return target


def write_html(path: Path, html: str) -> None:
    """Write a page to a file, atomically."""
    with atomic_write(path) as unfinished:
        unfinished.write_text(html, encoding="utf-8")


def build(
    model: Any,
    X: Any,
    *,
    color: Any = None,
    ids: Any = None,
    title: str | None = None,
    seconds: Mapping[str, float] | None = None,
    n_rows: float | None = None,
    feature_names: Sequence[str] | None = None,
    as_command: Callable[[Mapping[str, Any]], str] | None = None,
    random_state: Any = 0,
) -> str:
    """Return the page written by :func:`write` as HTML. The parameters are the same."""
    return build_page(
        model, X, color=color, ids=ids, title=title, seconds=seconds, n_rows=n_rows,
        feature_names=feature_names, as_command=as_command, random_state=random_state,
    ).html  # fmt: skip


def build_page(
    model: Any,
    X: Any,
    *,
    title: str | None = None,
    as_command: Callable[[Mapping[str, Any]], str] | None = None,
    steps: Sequence[tuple[str, str, str]] = (),
    **options: Any,
) -> Page:
    """Return the page, with further ``steps`` (title, reason and command) before suggestions."""
    start = time.perf_counter()
    figures, page = _import_renderers()
    subject = Subject.of(model, X, **options)
    drawn = figures.build(subject)
    suggestions = suggest(subject.fitted, subject.studied, subject.retention)
    subject.seconds["report"] = time.perf_counter() - start
    heading = _spaced(type(subject.fitted.estimator).__name__) if title is None else str(title)
    today = date.today().isoformat()
    verdict = judge(subject.model)
    html = page.render(heading, subject, verdict, suggestions, steps, as_command, drawn, today)
    return Page(html, subject.excerpt)


def _import_renderers() -> tuple[ModuleType, ModuleType]:
    """Import the modules that require plotly and jinja2, before any work is done."""
    try:
        from . import figures, page
    except ImportError as error:
        raise missing_package("a report", "plotly and jinja2", "report") from error
    return figures, page


def _spaced(name: str) -> str:
    """Insert spaces into a class name such as ReducedSetKernelPCA."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
