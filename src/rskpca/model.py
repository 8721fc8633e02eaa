"""Fitted models: one immutable object with everything needed to evaluate an estimator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from . import _validation as check
from ._core.distances import nearest_centers
from ._core.partition import Partition
from ._core.sparse import is_sparse
from .certificate import (
    Analysis,
    Certificate,
    RowErrors,
    Walk,
    WalkAnalysis,
    certify,
    certify_walk,
)
from .density import BaseDensity
from .kernels import AnyKernel, NamedKernel, RadialKernel
from .reduced_set import ReducedSet
from .spectral import EigenSystem, FeatureSpace, FittedMarkov
from .spectral.preimages import METHODS

Array = NDArray[np.floating]

# A row can have a different label from its center only if more than this share of the center's
# affinity belongs to other clusters. In the test data sets, such centers have a share of at least
# 0.27.
_BORDER = 0.05


@dataclass(frozen=True, eq=False)
class FittedModel:
    """Fitted embedding: a kernel, a reduced set and the eigenfunctions computed from them.

    All embeddings and detectors provide their fitted model as ``model_``, and :func:`unwrap`
    extracts it from a pipeline. Plotting, reports, model files, ONNX export and the command line
    use it instead of inspecting estimators.

    Attributes
    ----------
    kernel : RadialKernel
        The kernel with its bandwidth resolved.
    reduced_set : ReducedSet
        The weighted points that represent the data; for landmark methods, the landmarks.
    system : EigenSystem
        The eigenvalues and the eigenfunctions, expanded over the centers.
    evaluated : EigenSystem
        The same eigenfunctions, expanded over the points at which ``transform`` evaluates the
        kernel. This is ``system`` itself unless a smaller basis was requested.
    scale : ndarray of shape (n_components,)
        Factors that turn eigenfunction values into coordinates.
    certified : bool
        True if an error certificate can be computed.
    landmarks : bool
        True if ``reduced_set`` contains landmarks, whose weights are not row counts.
    known : ReducedSet
        The points from which pre-images are learned; defaults to ``reduced_set``.
    partition : Partition or None
        For clustering, the rule that maps eigenfunction values to clusters.
    offset : float or None
        For novelty detection, the score below which a row is an outlier.
    time : float or None
        For diffusion maps, the diffusion time.
    wider : EigenSystem or None
        ``system`` with additional eigenpairs, if they cannot be recomputed for the certificate.
    """

    kernel: AnyKernel
    reduced_set: ReducedSet
    system: EigenSystem
    evaluated: EigenSystem
    scale: Array
    certified: bool = False
    landmarks: bool = False
    known: ReducedSet = None  # type: ignore[assignment]  # set below
    partition: Partition | None = None
    offset: float | None = None
    time: float | None = None
    wider: EigenSystem | None = None
    _cache: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.known is None:
            object.__setattr__(self, "known", self.reduced_set)
        self._check()

    def _check(self) -> None:
        """Check that the shapes of the fields are consistent."""
        sizes = check.shapes(self, scale="r")
        n_features = self.reduced_set.n_features
        if self.known.n_features != n_features:
            raise ValueError(f"known must have {n_features} features, got {self.known.n_features}.")
        for name, system in (("system", self.system), ("evaluated", self.evaluated)):
            found = len(system.eigenvalues), system.centers.shape[1]
            if found != (sizes["r"], n_features):
                raise ValueError(
                    f"{name} must have {sizes['r']} components and {n_features} features, "
                    f"got {found[0]} and {found[1]}."
                )
        if self.partition is not None and len(self.partition.directions) != sizes["r"]:
            raise ValueError(
                f"partition must be defined on {sizes['r']} eigenfunctions, "
                f"got {len(self.partition.directions)}."
            )

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without cached values, which can be recomputed."""
        cached = {"analysis", "certificate", "feature_space", "center_labels"}
        state = {name: value for name, value in self.__dict__.items() if name not in cached}
        return {**state, "_cache": {}}

    @property
    def eigenvalues(self) -> Array:
        """The eigenvalues, in descending order."""
        return self.system.eigenvalues

    @property
    def basis(self) -> Array:
        """The points at which ``transform`` evaluates the kernel."""
        return self.evaluated.centers

    @property
    def n_centers(self) -> int:
        """The number of centers or landmarks."""
        return self.reduced_set.n_centers

    @property
    def n_samples(self) -> float | None:
        """The total weight of the fitted rows, or None for landmark methods."""
        return None if self.landmarks else self.reduced_set.n_samples

    @property
    def weights(self) -> Array | None:
        """The weights of the centers, or None for landmarks."""
        return None if self.landmarks else self.reduced_set.weights

    @property
    def known_rows(self) -> Array:
        """The rows that were sampled during the fit, or the centers if there is no sample."""
        sample = self.reduced_set.sample
        return self.reduced_set.centers if sample is None or not len(sample) else sample.rows

    @property
    def ell(self) -> float | None:
        """The ratio sigma / spacing for a shadow set, or None for other reduced sets."""
        return _ell(self.kernel, self.reduced_set)

    @property
    def is_kernel_pca(self) -> bool:
        """True for kernel PCA, False for random-walk embeddings."""
        return not isinstance(self.system.operator, FittedMarkov)

    @property
    def explained_variance_ratio(self) -> Array | None:
        """Fraction of the feature-space variance per component, or None for random walks."""
        return self.system.eigenvalues / self.system.trace if self.is_kernel_pca else None

    @cached_property
    def certificate(self) -> Certificate | None:
        """The error certificate at 95% confidence, or None if there is none for this model."""
        if not self.certified:
            return None
        return self.certify(0.95)

    @cached_property
    def analysis(self) -> Analysis | None:
        """The comparison of the model with its row sample, if it has one."""
        if not self.is_kernel_pca:
            return WalkAnalysis.of_walk(self._walk)
        return Analysis.of(self.kernel, self.reduced_set, self.system, self.wider)

    @property
    def _walk(self) -> Walk:
        """The random walk, with the parameters that its analysis needs."""
        kept = self.partition is not None  # clusters also use the constant eigenfunction
        parts = self.kernel, self.reduced_set, self.system, self.embed
        return Walk(*parts, 0 if kept else 1, self.time or 0.0, self.partition)

    @property
    def _method(self) -> str:
        walks = "Laplacian eigenmaps" if self.time is None else "diffusion maps"
        return walks if self.partition is None else "normalized cut"

    def row_errors(self, X: Array) -> RowErrors:
        """Return the estimated coordinate error of each row, and how well it is represented."""
        if not self.is_kernel_pca:
            raise ValueError(
                "row_error requires kernel PCA, but this model is a random walk. Its certificate "
                "contains the error over all rows."
            )
        if not self.certified or self.analysis is None or self.analysis.missing:
            raise ValueError(
                "row_error requires a row sample of at least 100 rows, which this model does not "
                "have. Fit it with ShadowDensity(sample_size=2000), the default."
            )
        return RowErrors(self.analysis.coordinate_errors(X), self.residuals(X))

    @cached_property
    def feature_space(self) -> FeatureSpace:
        """The principal axes as elements of the feature space."""
        return FeatureSpace.of(self.system)

    @cached_property
    def center_labels(self) -> NDArray[np.intp]:
        """The cluster label of each center."""
        assert self.partition is not None
        return self.partition.labels(self.system.functions)

    def functions(self, X: Array) -> Array:
        """Evaluate the eigenfunctions at validated rows; one column per eigenfunction."""
        return self._cached(X.dtype, lambda: self.evaluated.prepare(X.dtype))(X)

    def embed(self, X: Array) -> Array:
        """Return the coordinates of validated rows."""
        functions = self.functions(X)
        return functions * self.scale.astype(functions.dtype)

    def preimages(self, Z: Array, method: str, **options: Any) -> Array:
        """Return points in input space whose coordinates are close to the rows of Z."""
        if is_sparse(self.known.centers):
            raise ValueError(
                "inverse_transform requires dense centers, but the model was fitted with sparse "
                "rows. Fit it with dense rows, for example X.toarray()."
            )
        key = method, *options.items()
        fit: Any = METHODS[method].fit
        return self._cached(key, lambda: fit(self.system, self.known, **options))(Z)

    def certify(
        self, confidence: float, X: Array | None = None, sample_weight: Array | None = None
    ) -> Certificate:
        """Return a certificate at the given confidence, with errors measured on X if given."""
        given: Any = {"confidence": confidence, "X": X, "sample_weight": sample_weight}
        if self.is_kernel_pca:
            parts = self.kernel, self.reduced_set, self.system, self.analysis
            found = certify(*parts, **given)
        else:
            analysis = cast(WalkAnalysis | None, self.analysis)
            found = certify_walk(self._walk, analysis, self._method, **given)
        if self.analysis is not None:
            self.analysis.release()
        return found

    def _cached(self, key: Any, compute: Callable[[], Any]) -> Any:
        """Return a cached value, computing it if missing.

        No lock is needed: threads that compute it concurrently get equal results.
        """
        found = self._cache.get(key)
        if found is None:
            found = self._cache[key] = compute()
        return found

    def residuals(self, X: Array) -> Array:
        """Return the squared distance in feature space from each row to the principal subspace."""
        key = "residuals", X.dtype
        return self._cached(key, lambda: self.feature_space.prepare(X.dtype))(X)

    def scores(self, X: Array) -> Array:
        """Return the novelty scores, which are negative for outliers."""
        assert self.offset is not None
        return -self.residuals(X) - self.offset

    def labels(self, X: Array) -> NDArray[np.intp]:
        """Return the cluster label of each row."""
        # Rows at which all eigenfunctions are 0 get the label of their nearest center.
        assert self.partition is not None
        functions = self.functions(X)
        labels = self.partition.labels(functions)
        unreached = ~functions.any(axis=1)
        if unreached.any():
            nearest = nearest_centers(X[unreached], self.reduced_set.centers, self.kernel.scale)[0]
            labels[unreached] = self.center_labels[nearest]
        return labels

    def row_labels(self, X: Array, centers: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the cluster labels of training rows, given the center of each row; -1 stays -1."""
        # The eigenfunctions are evaluated only near borders; other rows get their center's label.
        labels = np.where(centers < 0, -1, self.center_labels[centers])
        near = (centers >= 0) & self._near_border()[centers]
        if near.any():
            labels[near] = self.labels(X[near])
        return labels

    def _near_border(self) -> NDArray[np.bool_]:
        """Return a mask of the centers whose rows may have different labels from the center."""
        radius, n_centers = self.reduced_set.radius, self.n_centers
        if self.basis is not self.system.centers or radius is None or self._reaches(radius):
            return np.ones(n_centers, dtype=bool)
        operator, labels = cast(FittedMarkov, self.system.operator), self.center_labels
        members = np.eye(len(self.partition.offsets))[labels]  # type: ignore[union-attr]
        affinities = self.system.sums(operator.pull[:, None] * members)
        own = affinities[np.arange(n_centers), labels]
        return own < (1 - _BORDER) * affinities.sum(axis=1)

    def _reaches(self, radius: float) -> bool:
        """Return True if a row can be far enough from its center for their affinities to differ."""
        return radius > self.kernel.scale / 2

    def leading(self, count: int) -> FittedModel:
        """Return a copy with only the first ``count`` components."""
        system = self.system.select(slice(count))
        same = self.evaluated is self.system
        evaluated = system if same else self.evaluated.select(slice(count))
        return replace(self, system=system, evaluated=evaluated, scale=self.scale[:count])

    def with_offset(self, offset: float) -> FittedModel:
        """Return a copy of the model that detects outliers with this offset."""
        return replace(self, offset=offset)


@dataclass(frozen=True, eq=False)
class FittedEstimator:
    """Parts of a fitted estimator or pipeline, as returned by :func:`unwrap`.

    Attributes
    ----------
    estimator : estimator
        The last step of the pipeline: an embedding, a detector or a density.
    embedding : estimator
        The embedding inside a detector; otherwise the estimator itself.
    name : str
        Class name of the embedding or density, for display.
    preprocessing : transformer or None
        The pipeline steps before ``estimator``.
    kernel : RadialKernel or Kernel
        The kernel with its bandwidth resolved.
    reduced_set : ReducedSet
        The weighted points that represent the data.
    n_features : int
        Number of features after preprocessing.
    feature_names : list of str or None
        Names of these features, if the estimator was fitted with names.
    columns : list of str or None
        Column names before preprocessing, if the first step was fitted with names.
    n_columns : int
        Number of columns before preprocessing.
    """

    estimator: Any
    embedding: Any
    name: str
    preprocessing: Any
    kernel: AnyKernel
    reduced_set: ReducedSet
    n_features: int
    feature_names: list[str] | None
    columns: list[str] | None
    n_columns: int
    _model: FittedModel | None

    @property
    def model(self) -> FittedModel:
        """The fitted model. Raises TypeError for a density, which has no model."""
        if self._model is None:
            raise TypeError(
                f"{self.name} is a density and has no components. Fit an embedding such as "
                "ReducedSetKernelPCA(density=...)."
            )
        return self._model

    @property
    def has_model(self) -> bool:
        """True unless the estimator is a density."""
        return self._model is not None

    @property
    def n_samples(self) -> float | None:
        """The total weight of the fitted rows, or None for landmark methods."""
        return self.reduced_set.n_samples if self._model is None else self._model.n_samples

    @property
    def weights(self) -> Array | None:
        """The weights of the centers, or None for landmarks."""
        return self.reduced_set.weights if self._model is None else self._model.weights

    @property
    def ell(self) -> float | None:
        """The ratio sigma / spacing for a shadow set, or None for other reduced sets."""
        return _ell(self.kernel, self.reduced_set)

    @property
    def bandwidth(self) -> float | None:
        """The bandwidth, or None for kernels that are not radial."""
        return self.kernel.scale if isinstance(self.kernel, RadialKernel) else None

    @property
    def kernel_name(self) -> str:
        """The kernel and its bandwidth, for display."""
        if isinstance(self.kernel, NamedKernel):
            return f"{self.kernel.name} kernel"
        if self.bandwidth is None:
            return "custom kernel"
        return f"{type(self.kernel).__name__} kernel with bandwidth {self.bandwidth:.4g}"

    def prepare(self, X: Any) -> Array:
        """Preprocess rows and return them as a float array."""
        rows = X if self.preprocessing is None else self.preprocessing.transform(X)
        return check_array(rows, dtype=check.FLOATS, input_name="X")

    def names_of_features(self, given: Any = None) -> list[str]:
        """Return the given feature names, those seen during ``fit``, or numbered defaults."""
        names = self.feature_names if given is None else given
        if names is None:
            return [f"feature {j + 1}" for j in range(self.n_features)]
        if len(names) != self.n_features:
            raise ValueError(
                f"feature_names must have {self.n_features} names, one per feature, "
                f"got {len(names)}."
            )
        return [str(name) for name in names]


def unwrap(estimator: Any) -> FittedEstimator:
    """Split a fitted embedding, detector, density or pipeline into its parts.

    No other function inspects pipelines or detectors.

    Parameters
    ----------
    estimator : estimator
        A fitted rskpca embedding, novelty detector or density, or a Pipeline that ends in one.

    Returns
    -------
    FittedEstimator
        The model with its preprocessing and feature names.
    """
    preprocessing, last = None, estimator
    if isinstance(estimator, Pipeline):
        preprocessing, last = (estimator[:-1] if len(estimator) > 1 else None), estimator[-1]
    is_density = isinstance(last, BaseDensity)
    if not is_density and not hasattr(type(last), "model_"):
        raise TypeError(
            "The model must be an rskpca embedding, novelty detector or density, or a pipeline "
            f"that ends in one, got {type(last).__name__}."
        )
    check_is_fitted(last)
    model = None if is_density else last.model_
    is_detector = model is not None and model.offset is not None
    embedding = last.embedding_ if is_detector else last
    return FittedEstimator(
        last,
        embedding,
        _public_name(embedding),
        preprocessing,
        last.kernel_ if model is None else model.kernel,
        last.reduced_set_ if model is None else model.reduced_set,
        int(last.n_features_in_),
        _names(last),
        _names(estimator),
        int(getattr(estimator, "n_features_in_", last.n_features_in_)),
        model,
    )


def _ell(kernel: AnyKernel, reduced_set: ReducedSet) -> float | None:
    """Return sigma / spacing, infinity if every row is a center, or None if it is undefined."""
    if reduced_set.spacing is None or not isinstance(kernel, RadialKernel):
        return None
    return float(kernel.scale / reduced_set.spacing) if reduced_set.spacing else np.inf


def _names(estimator: Any) -> list[str] | None:
    """Return the column names with which an estimator or a pipeline was fitted."""
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def _public_name(estimator: Any) -> str:
    """Return the name of the first public class in the MRO."""
    return next(c.__name__ for c in type(estimator).__mro__ if not c.__name__.startswith("_"))
