"""Typical use of the package in another project, checked with ``mypy --strict``."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rskpca import (
    Certificate,
    DiffusionMaps,
    Gaussian,
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
)

Rows = NDArray[np.float64]


def embed(X: Rows) -> NDArray[np.floating]:
    model = ReducedSetKernelPCA(2, kernel=Gaussian(1.5), ell=4.0).fit(X)
    certificate: Certificate = model.certificate_
    reduced_set: ReducedSet = model.reduced_set_
    assert certificate.n_centers == reduced_set.n_centers
    return model.transform(X)


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


def detect(X: Rows) -> NDArray[np.integer]:
    return KernelPCANovelty(ReducedSetKernelPCA(3)).fit(X).predict(X)


def combine(first: ShadowDensity, second: ShadowDensity) -> ShadowDensity:
    combined: ShadowDensity = merge(first, second)
    return combined


def predict_cost(X: Rows) -> str:
    return str(plan(X))
