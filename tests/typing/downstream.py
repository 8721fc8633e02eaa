"""Typical use of the package in another project, checked with ``mypy --strict``."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rskpca import (
    Certificate,
    DiffusionMaps,
    Gaussian,
    KernelPCA,
    KernelPCANovelty,
    Laplacian,
    NormalizedCut,
    NystromKernelPCA,
    ReducedSet,
    ReducedSetKernelPCA,
    ShadowDensity,
    load,
    merge,
    plan,
    save,
    scaling,
)
from rskpca.data import open_source
from rskpca.io import Description, describe
from rskpca.plotting import EmbeddingDisplay, SpectrumDisplay

Rows = NDArray[np.float64]


def embed(X: Rows) -> NDArray[np.floating]:
    model = ReducedSetKernelPCA(2, kernel=Gaussian(1.5), ell=4.0).fit(X)
    certificate: Certificate = model.certificate_
    reduced_set: ReducedSet = model.reduced_set_
    assert certificate.n_centers == reduced_set.n_centers
    return model.transform(X)


def replace_scikit_learn(X: Rows) -> NDArray[np.floating]:
    model = KernelPCA(5, kernel="rbf", gamma="median", max_error=0.01)
    Z: NDArray[np.floating] = model.fit_transform(X)
    assert model.error_ <= 0.01
    return Z


def stream(chunks: list[Rows]) -> ShadowDensity:
    density = ShadowDensity(Laplacian(2.0), ell=3.0)
    for chunk in chunks:
        density.partial_fit(chunk)
    return density.forget(chunks[0])


def cluster(X: Rows) -> NDArray[np.integer]:
    return NormalizedCut(2, bandwidth=1.0).fit(X).predict(X)


def walk(X: Rows) -> NDArray[np.floating]:
    return DiffusionMaps(2, t=3).fit(X).diffusion_distance(X)


def store(X: Rows, path: Path) -> Any:
    save(NystromKernelPCA(2, landmarks=50).fit(X), path)
    return load(path)


def describe_file(path: Path) -> tuple[str, int | None]:
    description: Description = describe(path)
    return description.class_name, description.n_centers


def process_files(folder: Path, output: Path) -> Path:
    source = open_source(folder, block_rows=10_000, skip_missing=True)
    model = scaling.fit(ReducedSetKernelPCA(2), source, checkpoint=folder / "checkpoint")
    return scaling.transform(model, source, output, progress=False)


def draw(model: KernelPCA, X: Rows) -> EmbeddingDisplay:
    SpectrumDisplay.from_estimator(model)
    model.plot(X, components=(0, 2))
    return EmbeddingDisplay.from_estimator(model, X, color=X[:, 0])


def detect(X: Rows) -> NDArray[np.integer]:
    return KernelPCANovelty(ReducedSetKernelPCA(3)).fit(X).predict(X)


def combine(first: ShadowDensity, second: ShadowDensity) -> ShadowDensity:
    combined: ShadowDensity = merge(first, second)
    return combined


def predict_cost(X: Rows) -> str:
    return str(plan(X))
