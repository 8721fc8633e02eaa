"""Test that estimated limits cover the true errors on awkward data."""

from dataclasses import replace

import numpy as np
import pytest

from rskpca import Gaussian, Laplacian, ReducedSetKernelPCA, ShadowDensity, merge
from rskpca.baselines.methods import embedding_error
from rskpca.certificate import hilbert_schmidt, mmd
from rskpca.pairs import FeaturePairs
from rskpca.row_sample import RowSample
from tests import datasets
from tests.certificate.test_sampled import exact_embedding

RNG = np.random.default_rng(0)
SORTED = np.sort(RNG.normal(size=(1000, 1)), axis=0)
NORMAL = RNG.normal(size=(900, 3))
WEIGHTS = 10.0 ** RNG.uniform(-3, 3, 900)
# Rows, kernel, ell and weights.
CASES = {
    "sorted, Laplacian": (SORTED, Laplacian(1.0), 4.0, None),
    "sorted, coarse Gaussian": (SORTED, Gaussian(1.0), 1.0, None),
    "heavy tails": (RNG.standard_t(1.5, (900, 3)), Gaussian(2.0), 3.0, None),
    "one-hot": (np.eye(5)[RNG.integers(0, 5, (900, 3))].reshape(900, -1), Gaussian(2.0), 1.0, None),
    "duplicates": (NORMAL[RNG.integers(0, 150, 900)], Gaussian(2.0), 2.0, None),
    "uneven weights": (NORMAL, Gaussian(2.0), 3.0, WEIGHTS),
    "a fill value": (np.r_[[[1e20, 0.0, 0.0]], NORMAL[1:]], Gaussian(2.0), 3.0, None),
}  # fmt: skip
SEEDS = range(20)
ENOUGH = 0.85  # of 20 samples; a coverage of 0.95 falls below it in less than 2% of all trials


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "kernel", "ell", "weights"), CASES.values(), ids=CASES)
def test_limits_cover_the_errors_on_awkward_data(rows, kernel, ell, weights):
    model = ReducedSetKernelPCA(2, kernel=kernel, ell=ell).fit(rows, sample_weight=weights).model_
    labels = ShadowDensity(kernel, ell).fit(rows, sample_weight=weights).labels_
    w = np.ones(len(rows)) if weights is None else weights
    exact, _ = exact_embedding(kernel, rows, 2, center=True, weights=w)
    root, s = np.sqrt(w)[:, None], model.reduced_set
    true = {
        "embedding": embedding_error(root * exact, root * model.embed(rows)),
        "operator": hilbert_schmidt.measure(kernel, rows, s, weights, center=True),
        "mmd": mmd.measure(kernel, rows, s, weights),
    }
    assert min(true.values()) > 1e-3
    limits = {name: [] for name in true}
    for seed in SEEDS:
        sample = RowSample.of(rows, w, labels, seed).head(250)
        certificate = replace(model, reduced_set=replace(s, sample=sample)).certificate
        assert np.isfinite(certificate.likely).all()
        limits["embedding"].append(certificate.embedding.limit)
        limits["operator"].append(certificate.level("sample").operator)
        limits["mmd"].append(certificate.level("sample").mmd)
    for name, found in limits.items():
        assert np.mean(np.array(found) >= true[name]) >= ENOUGH, name


@pytest.mark.parametrize("error", ["operator", "mmd"])
@pytest.mark.parametrize("kernel", [Laplacian(1.0), Gaussian(1.0)], ids=["Laplacian", "Gaussian"])
@pytest.mark.parametrize("ell", [1.0, 4.0])
def test_norms_are_covered_for_sorted_rows(kernel, ell, error):
    """Covers of sorted rows are lattices, where a few frequencies account for the whole error."""
    density = ShadowDensity(kernel, ell).fit(SORTED)
    s = density.reduced_set_
    measure = mmd.measure if error == "mmd" else hilbert_schmidt.measure
    true, found = measure(kernel, SORTED, s), []
    for seed in range(60):
        sample = RowSample.of(SORTED, np.ones(len(SORTED)), density.labels_, seed).head(200)
        pairs = FeaturePairs.of(kernel, sample, None, s.centers[sample.labels], s.n_samples)
        limit = pairs.mmd(0.95) if error == "mmd" else pairs.operator(0.95, center=False)
        found.append(limit.limit)
    assert np.mean(np.array(found) >= true) >= 0.88  # 0.95 minus 2.5 standard deviations
    assert np.median(found) < 1.25 * true


@pytest.mark.slow
def test_limits_of_merged_models_cover_the_errors():
    rows = datasets.blobs(1200, 3)
    exact, values = exact_embedding(Gaussian(4.0), rows, 2, center=True)
    held, inside = [], []
    for seed in SEEDS:
        parts = [
            ReducedSetKernelPCA(
                2,
                kernel=Gaussian(4.0),
                density=ShadowDensity(ell=3.0, sample_size=300, random_state=10 * seed + k),
            ).fit(part)
            for k, part in enumerate(np.array_split(rows, 3))
        ]
        model = merge(*parts)
        certificate = model.certificate_
        true = embedding_error(exact, model.transform(rows))
        held.append(true <= certificate.embedding.limit < 2.5 * true)
        low, high = certificate.likely.T / len(rows)
        inside.append((low <= values) & (values <= high))
    assert np.mean(held) >= ENOUGH
    assert np.mean(inside) >= ENOUGH


@pytest.mark.parametrize("n_rows", [2000, 2001, 2100])
def test_nearly_complete_samples_are_nearly_exact(n_rows):
    rows = datasets.blobs(n_rows, 3)
    model = ReducedSetKernelPCA(2, kernel=Gaussian(4.0), ell=3.0).fit(rows)
    exact, _ = exact_embedding(Gaussian(4.0), rows, 2, center=True)
    true = embedding_error(exact, model.transform(rows))
    certificate = model.certificate_
    assert certificate.all_rows == (n_rows == 2000)
    assert true <= certificate.embedding.limit < 1.25 * true


def test_fewer_components_than_requested_are_certified():
    rows = np.repeat(NORMAL[:4], 700, axis=0)
    with pytest.warns(UserWarning, match="Only 3 of the 10 requested"):
        model = ReducedSetKernelPCA(10, kernel=Gaussian(2.0)).fit(rows)
    certificate = model.certificate_
    assert certificate.embedding.limit < 1e-6
    assert np.isfinite(certificate.likely).all()


def test_a_fill_value_in_the_first_row_does_not_mislead_the_search():
    rows = CASES["a fill value"][0]
    density = ShadowDensity(ell="auto", tol=0.05, sample_size=300)
    model = ReducedSetKernelPCA(2, kernel=Gaussian(2.0), density=density).fit(rows)
    exact, _ = exact_embedding(Gaussian(2.0), rows, 2, center=True)
    assert embedding_error(exact, model.transform(rows)) <= 0.05
    clean = ReducedSetKernelPCA(2, kernel=Gaussian(2.0), density=density).fit(rows[1:])
    assert 0.8 * clean.n_centers_ < model.n_centers_ < 1.25 * clean.n_centers_
