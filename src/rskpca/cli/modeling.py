"""Build, load, check, fit and merge models, and predict the cost of a fit."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import joblib
import numpy as np
from rich.text import Text
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from .. import (
    DiffusionMaps,
    KernelPCA,
    LaplacianEigenmaps,
    NormalizedCut,
    ReducedSetKernelPCA,
    ShadowDensity,
    merge,
    scaling,
)
from .._format import percent, seconds_in_words
from ..certificate.summary import SMALLEST
from ..data import Source, open_source
from ..embedding import CompressedKernelPCA
from ..io import ModelFileError, load, save
from ..kernels import as_kernel
from ..model import FittedEstimator
from ..planning.cost import SolveTime
from ..planning.verdict import error_in_words
from ..report.subject import MAX_ROWS
from ..report.writing import build_page, write_html
from ..scaling.fitting import prepare
from .files import naming_errors
from .options import Settings
from .progress import ProgressBar
from .rows import color_values, id_texts, sample, sample_numbers
from .summary import Summary, size_of, with_options

DEFAULT_ERROR = 0.02  # points in a plot move by less than the size of a marker
_SAMPLE_ROWS = 20_000  # for predicting the time per row and the error
_WARM_UP_ROWS = 500
_EMBED = "This command writes the coordinates of all rows to a file."
_MANY_CENTERS = 4000  # with this many, the eigenproblem takes long enough to show an estimate
_METHODS: dict[str, Any] = {
    "kernel-pca": ReducedSetKernelPCA,
    "reduced-set": ReducedSetKernelPCA,
    "diffusion-maps": DiffusionMaps,
    "laplacian-eigenmaps": LaplacianEigenmaps,
    "normalized-cut": NormalizedCut,
}


def build(settings: Settings, like: FittedEstimator | None = None) -> Any:
    """Return an unfitted estimator or pipeline, with the given settings or those of a model."""
    if like is not None:
        return _build_like(like)
    estimator = build_automatic(settings) if settings.chooses_method else _build_reduced(settings)
    return make_pipeline(StandardScaler(), estimator) if settings.standardize else estimator


def build_automatic(settings: Settings) -> KernelPCA:
    """Return a KernelPCA that chooses its settings from a target error."""
    kernel = as_kernel(settings.kernel, bandwidth=settings.bandwidth)
    max_error = settings.max_error or DEFAULT_ERROR
    return KernelPCA(settings.components, kernel=kernel, max_error=max_error)


def _build_reduced(settings: Settings) -> Any:
    """Return an embedding on a reduced set."""
    tol, max_centers = settings.max_error, settings.max_centers
    options: dict[str, Any] = {"ell": settings.ell}
    if tol is not None or max_centers is not None:
        ell = "auto" if tol is not None else settings.ell or 4.0
        options = {"density": ShadowDensity(ell=ell, tol=tol, max_centers=max_centers)}
    if settings.small:
        options["basis"] = "auto"
    if settings.refine:
        options["refine"] = "nystrom"
    options |= {"kernel": settings.kernel, "bandwidth": settings.bandwidth}
    return _METHODS[settings.method](settings.components, **options)


def _build_like(fitted: FittedEstimator) -> Any:
    """Return an unfitted estimator with the parameters, bandwidth, ell and scaling of a model."""
    changed: dict[str, Any] = {"kernel": fitted.kernel, "gamma": None, "bandwidth": None}
    last = _on_landmarks(fitted)
    params = last.get_params(deep=False)
    if "landmarks" in params:
        landmarks = last.shared_landmarks_
        changed |= {"landmarks": landmarks, "n_centers": None, "max_error": None}
    elif "density" not in params:
        raise TypeError(f"--like: {fitted.name} cannot be fitted again; use another model.")
    elif params["density"] is not None:
        density = changed["density"] = clone(params["density"]).set_params(kernel=None)
        if density.get_params().get("tol") is not None:
            density.set_params(ell=fitted.model.ell, tol=None)
    return _add_scaling(fitted, clone(last).set_params(**changed), FrozenEstimator)


def _add_scaling(
    fitted: FittedEstimator, last: Any, wrap: Callable[[Any], Any] | None = None
) -> Any:
    """Prepend the preprocessing steps of a model, each passed to ``wrap`` if given."""
    if fitted.preprocessing is None:
        return last
    steps = [(name, wrap(step) if wrap else step) for name, step in fitted.preprocessing.steps]
    return Pipeline([*steps, ("model", last)])


def _on_landmarks(fitted: FittedEstimator) -> Any:
    """Return the landmark model inside a KernelPCA, or any other estimator unchanged."""
    last = fitted.estimator
    return last.embedding_ if isinstance(last, KernelPCA) else last


def load_model(path: Path) -> Summary:
    """Load a fitted model from a file."""
    loaded = Summary(load(path), path.name)
    try:
        _ = loaded.fitted
    except NotFittedError as error:
        name = type(loaded.estimator).__name__
        message = f"{path}: the file contains an unfitted {name}; fit it before saving."
        raise ModelFileError(message) from error
    except (AttributeError, TypeError) as error:
        raise ModelFileError(f"{path}: {error}") from error
    return loaded


def check_can_apply(fitted: FittedEstimator, *, labels: bool) -> None:
    """Raise an error unless the model can compute the requested coordinates or labels."""
    model = fitted.model
    if labels and model.partition is None and model.offset is None:
        raise TypeError(f"{fitted.name} has no labels; remove --labels.")
    if not labels and model.offset is not None:
        raise TypeError("a novelty detector has no coordinates; use --labels.")


def check_certified(fitted: FittedEstimator) -> None:
    """Raise an error unless a model has a certificate."""
    if isinstance(fitted.estimator, CompressedKernelPCA):
        raise TypeError("a model written with --small has no certificate; fit without --small.")
    if not fitted.model.certified:
        raise TypeError(f"{fitted.name} has no certificate; use --method reduced-set.")


def fit(
    estimator: Any,
    source: Source,
    path: Path,
    bar: ProgressBar,
    name: str,
    checkpoint: Path | None = None,
    small: bool = False,
) -> Summary:
    """Fit an estimator to all rows and write the model, without error estimates if ``small``."""
    start, bar.idle = time.perf_counter(), "choosing the settings"
    model = scaling.fit(estimator, source, checkpoint=checkpoint, progress=bar.rows_done)
    bar.stage("solving", estimate_solving(model))
    summary = Summary(model, name)
    _ = summary.model.eigenvalues  # solves the eigenproblem
    seconds = {"fit": time.perf_counter() - start}
    bar.stage("writing the model")
    replaced = (path,) if path.exists() else ()
    with naming_errors(path):
        save(compress(summary.fitted) if small else model, path)
    return replace(summary, seconds=seconds, files={"model": path}, replaced=replaced)


def estimate_solving(model: Any) -> float | None:
    """Estimate how many seconds the eigenproblem takes, or return None if it is small."""
    last = model[-1] if isinstance(model, Pipeline) else model
    if not isinstance(last, ReducedSetKernelPCA) or last.n_centers_ < _MANY_CENTERS:
        return None
    centers, n_components = last.reduced_set_.centers, last.n_components or last.n_centers_
    return SolveTime(centers, last.kernel_, n_components).seconds(last.n_centers_)


def compress(fitted: FittedEstimator) -> Any:
    """Reduce a kernel PCA model to what is needed to embed rows; keep other models unchanged."""
    last, system = fitted.estimator, fitted.model.evaluated
    if fitted.model.is_kernel_pca:
        last = CompressedKernelPCA.of(last, system, np.zeros(len(system.eigenvalues)))
    return _add_scaling(fitted, last)


@dataclass(frozen=True)
class Report:
    """A report to write: the file, its title, and the columns of colors and ids.

    ``fit`` and ``transform`` are the commands shown on the page.
    """

    path: Path
    title: str
    fit: str
    transform: str
    color: str | None = None
    id: str | None = None


def add_report(summary: Summary, source: Source, report: Report) -> Summary:
    """Write a report on a model from a sample of the rows."""
    start, path, existed = time.perf_counter(), report.path, report.path.exists()
    numbers = sample_numbers(source, MAX_ROWS)
    block = source.take_block(numbers)
    color = report.color
    page = build_page(
        summary.estimator,
        block.rows,
        color=None if color is None else {color: color_values(block, source, color)},
        # JavaScript would round large integers
        ids={"row": numbers} if report.id is None else {report.id: id_texts(block, report.id)},
        ids_are_rows=report.id is None,
        title=report.title,
        seconds=summary.seconds,
        n_rows=source.counted(),
        feature_names=source.feature_names,
        as_command=lambda changes: with_options(report.fit, changes),
        steps=[("Embed the rows", _EMBED, report.transform)],
    )
    with naming_errors(path, summary.files.values()):
        write_html(path, page.html)
    seconds = {**summary.seconds, "report": time.perf_counter() - start}
    replaced = (*summary.replaced, path) if existed else summary.replaced
    files = {**summary.files, "report": path}
    return replace(summary, seconds=seconds, files=files, replaced=replaced, excerpt=page.excerpt)


def merge_models(paths: Sequence[Path], output: Path) -> Summary:
    """Merge several models into one, keeping their common scaling, and save it."""
    models = [load_model(path).fitted for path in paths]
    for model, path in zip(models, paths, strict=True):
        if isinstance(model.estimator, CompressedKernelPCA):
            raise TypeError(
                f"{str(path)!r} was written with --small, so it cannot be merged; fit it without "
                "--small."
            )
    first = models[0]
    for model, path in zip(models, paths, strict=True):
        same_scaling = joblib.hash(model.preprocessing) == joblib.hash(first.preprocessing)
        if not (same_scaling and model.kernel.same_as(first.kernel)):
            differ = "bandwidth" if same_scaling else "scaling"
            raise ValueError(
                f"{str(path)!r} and {str(paths[0])!r} cannot be merged because they have "
                f"different {differ}s; fit {str(path)!r} with --like {paths[0]}."
            )
    merged = _add_scaling(first, merge(*map(_on_landmarks, models)))
    with naming_errors(output):
        save(merged, output)
    return Summary(merged, " + ".join(path.stem for path in paths), files={"model": output})


@dataclass(frozen=True)
class Expectation:
    """Predicted time, size and error of the default fit."""

    n_samples: int
    n_features: int
    standardized: bool
    bandwidth: float
    landmarks: int
    seconds: float
    model_size: str
    error: float | None
    error_limit: float | None
    max_error: float

    def __rich__(self) -> Text:
        text = Text(f"{self.n_samples:,} rows x {self.n_features} features", "bold")
        scaled = ", standardized" if self.standardized else ""
        sentences = (
            f"{scaled}, bandwidth {self.bandwidth:.4g}\nThe fit takes about "
            f"{seconds_in_words(self.seconds)}. The model has {self.landmarks:,} landmarks and "
            f"takes up {self.model_size}."
        )
        if self.error is not None and self.error_limit is not None:
            missed = self.error_limit > self.max_error
            goal = f", more than the requested {percent(self.max_error)}" if missed else ""
            sentences += (
                f" Its coordinates are expected to differ from those of exact kernel PCA by "
                f"{_error_with_limit(self.error, self.error_limit)}{goal}."
            )
        return text.append(sentences, "default")


def _error_with_limit(error: float, limit: float) -> str:
    """Format an expected error and its limit, omitting the limit if it adds nothing."""
    expected, most = error_in_words(error), error_in_words(limit)
    if limit < SMALLEST or expected == most:
        return most
    return f"{expected} (at most {most})" if limit < 1 else f"{expected}, and possibly by {most}"


def _warm_up(estimator: Any, source: Source) -> None:
    """Fit the first rows, so that compiling the functions is not part of the measured time."""
    few = source.head(_WARM_UP_ROWS).rows
    # The first rows may not be suitable, for example because they are equal.
    with suppress(ValueError), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _ = prepare(estimator, open_source(few)).partial_fit(few).model_.certificate


def expect(estimator: Any, source: Source, *, standardized: bool) -> Expectation:
    """Predict the time, size and error of the default fit by running its first steps."""
    # The landmarks are chosen from a sample of the rows, exactly as in the fit. Only the pass over
    # all rows is left out; its time is extrapolated from a sample.
    _warm_up(estimator, source)
    start = time.perf_counter()
    model = prepare(estimator, source)
    chosen = time.perf_counter()
    block = sample(source, _SAMPLE_ROWS)
    read = time.perf_counter()
    model.partial_fit(block.rows, sample_weight=block.weights)
    passed = time.perf_counter()
    certificate = model.model_.certificate
    solved = time.perf_counter()
    n_samples = source.counted()
    # Reading and computing overlap.
    whole_pass = max((passed - read) * n_samples / len(block.rows), read - chosen)
    found = None if certificate is None else certificate.embedding
    with TemporaryDirectory() as folder:
        save(model, path := Path(folder) / "model.rskpca")
        model_size = size_of(path)
    return Expectation(
        n_samples=n_samples,
        n_features=source.n_features,
        standardized=standardized,
        bandwidth=model.kernel_.scale,
        landmarks=model.n_centers_,
        seconds=chosen - start + whole_pass + solved - passed,
        model_size=model_size,
        error=None if found is None else found.estimate,
        error_limit=None if found is None else found.limit,
        max_error=estimator.max_error,
    )
