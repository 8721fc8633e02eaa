"""Test the embedding error that is estimated from a row sample."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.sparse import csr_array
from sklearn.datasets import make_blobs
from threadpoolctl import threadpool_limits

from rskpca import (
    Gaussian,
    Laplacian,
    NystromKernelPCA,
    RadialKernel,
    ReducedSet,
    ReducedSetKernelPCA,
    ShadowDensity,
)
from rskpca.baselines.methods import embedding_error
from rskpca.certificate import Analysis, hilbert_schmidt
from rskpca.certificate.perturbation import ImageSums, SampledSums
from rskpca.certificate.sampled import AxisImages
from rskpca.pairs import FeaturePairs, ProjectedPairs
from rskpca.row_sample import RowSample
from rskpca.value_kernels import NamedKernel
from tests import datasets

X = datasets.blobs(400, 3)
CAUCHY = RadialKernel(lambda s: 1 / (1 + s), 2, 4.0)
KERNELS = {"Gaussian": Gaussian(4.0), "Laplacian": Laplacian(4.0), "custom": CAUCHY}
KINDS = {
    "plain": {},
    "basis": {"basis": 0.5},
    "refined": {"basis": 0.3, "refine": "nystrom"},
}


def exact_embedding(kernel, data, n_components, center, weights=None):
    """Return the coordinates of exact kernel PCA, and the eigenvalues divided by n."""
    w = np.ones(len(data)) if weights is None else weights
    share = w / w.sum()
    K = kernel(data)
    if center:
        K = K - share @ K - (K @ share)[:, None] + share @ K @ share
    values, vectors = eigh(
        np.sqrt(share)[:, None] * K * np.sqrt(share),
        subset_by_index=[len(data) - n_components, len(data) - 1],
    )
    values, vectors = values[::-1], vectors[:, ::-1]
    return vectors * np.sqrt(values) / np.sqrt(share)[:, None], values


def fit(kernel=KERNELS["Gaussian"], n_components=3, data=X, center=True, ell=3.0, **options):
    model = ReducedSetKernelPCA(n_components, kernel=kernel, ell=ell, center=center, **options)
    return model.fit(data)


# ------------------------------------------------------------------ all rows in the sample


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_the_estimate_from_all_rows_equals_the_error(kernel, center, kind):
    model = fit(kernel, center=center, **KINDS[kind])
    exact, values = exact_embedding(kernel, X, 3, center)
    true = embedding_error(exact, model.transform(X))
    certificate = model.certificate_
    assert true > 1e-4
    assert certificate.embedding.estimate == pytest.approx(true, rel=1e-6)
    assert true <= certificate.embedding.limit < 1.002 * true
    low, high = certificate.likely.T / len(X)
    assert np.all((low <= values) & (values <= high))
    shifts = np.abs(values - certificate.eigenvalues / len(X))
    assert np.all(high - low <= 0.1 * shifts + 1e-9)


@pytest.mark.parametrize("options", [{"basis": 4}, {"basis": 4, "refine": "nystrom"}, {}])
def test_a_poor_model_is_recognized(options):
    model = fit(n_components=3, ell=0.7, kernel=Gaussian(2.0), **options)
    exact, _ = exact_embedding(model.kernel_, X, 3, center=True)
    true = embedding_error(exact, model.transform(X))
    assert true > 0.2
    assert model.certificate_.embedding.estimate == pytest.approx(true, rel=1e-6)
    inner = model.model_
    sums = Analysis.of(inner.kernel, inner.reduced_set, inner.system, inner.wider)._sums
    solution, _ = sums.solve(3)  # as if the sample were incomplete
    assert solution.error(3) == pytest.approx(true, rel=0.01)
    errors = model.row_error(X).coordinates
    aligned = model.transform(X) @ np.linalg.lstsq(model.transform(X), exact, rcond=None)[0]
    assert np.corrcoef(errors, np.linalg.norm(exact - aligned, axis=1))[0, 1] > 0.99
    assert np.linalg.norm(errors) / np.linalg.norm(exact) == pytest.approx(true, rel=0.02)


@pytest.mark.parametrize("options", [{}, {"refine": "nystrom"}])
def test_a_cluster_beyond_the_reach_of_the_basis_is_detected(options):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(5000, 2)) + 60.0 * (np.arange(5000)[:, None] >= 3000)
    basis = ReducedSet(rows[:40], np.ones(40))
    model = fit(
        kernel=Gaussian(3.0), n_components=2, data=rows, center=False, basis=basis, **options
    )
    assert model.certificate_.embedding.limit == 1.0


@pytest.mark.parametrize("share", [0.02, 0.3])
def test_a_small_cluster_beyond_the_reach_of_the_basis_is_detected(share):
    rows = np.random.default_rng(0).normal(size=(3000, 2))
    rows[: int(3000 * share)] += 60.0
    basis = ReducedSet(rows[-40:], np.ones(40))
    options = {"kernel": Gaussian(6.0), "n_components": 5, "center": False}
    model = fit(data=rows, basis=basis, **options)
    assert model.certificate_.eigenvalues[-1] < 0.5 * share * len(rows)
    assert model.certificate_.embedding.limit == 1.0


@pytest.mark.parametrize(("n_rows", "center"), [(2, False), (3, True), (5, True), (5, False)])
def test_the_error_of_a_few_rows_is_exact(n_rows, center):
    rows = np.arange(2.0 * n_rows).reshape(n_rows, 2)
    model = fit(kernel=Gaussian(2.0), n_components=1, data=rows, center=center, ell=0.6)
    exact, _ = exact_embedding(Gaussian(2.0), rows, 1, center)
    true = embedding_error(exact, model.transform(rows))
    assert model.certificate_.embedding.estimate == pytest.approx(true, abs=1e-7)


def test_uneven_weights_do_not_narrow_the_limits():
    """One heavy row is certain to be sampled, which says nothing about the others."""
    rows = datasets.blobs(1500, 3)
    weights = np.where(np.arange(1500) == 7, 1000.0, 1.0)
    model = ReducedSetKernelPCA(2, kernel=Gaussian(4.0), ell=3.0)
    model = model.fit(rows, sample_weight=weights).model_
    labels = ShadowDensity(Gaussian(4.0), 3.0).fit(rows, sample_weight=weights).labels_
    true = hilbert_schmidt.measure(model.kernel, rows, model.reduced_set, weights, center=True)
    held = []
    for seed in range(20):
        sample = RowSample.of(rows, weights, labels, seed).head(200)
        sampled = replace(model, reduced_set=replace(model.reduced_set, sample=sample))
        held.append(sampled.certificate.level("sample").operator >= true)
    assert np.mean(held) >= 0.9


def test_integer_weights_are_equivalent_to_repeated_rows():
    weights = np.random.default_rng(0).integers(1, 4, len(X))
    weighted = ReducedSetKernelPCA(3, kernel=Gaussian(4.0), ell=3.0).fit(X, sample_weight=weights)
    repeated = fit(data=np.repeat(X, weights, axis=0))
    one, two = weighted.certificate_, repeated.certificate_
    assert one.embedding.estimate == pytest.approx(two.embedding.estimate, rel=1e-6)
    np.testing.assert_allclose(one.likely, two.likely, rtol=1e-9)
    for name in ("mmd", "operator"):
        numbers = [getattr(c.level("sample"), name) for c in (one, two)]
        assert numbers[0] == pytest.approx(numbers[1], rel=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_row_errors_add_up_to_the_embedding_error(kind):
    model = fit(**KINDS[kind])
    errors = model.row_error(X)
    exact, values = exact_embedding(model.kernel_, X, 3, center=True)
    Z = model.transform(X)
    aligned = Z @ np.linalg.lstsq(Z, exact, rcond=None)[0]
    true = np.linalg.norm(exact - aligned, axis=1)
    assert np.corrcoef(errors.coordinates, true)[0, 1] > 0.99
    total = np.sqrt(np.mean(errors.coordinates**2) / values.sum())
    assert total == pytest.approx(model.certificate_.embedding.estimate, rel=0.02)
    np.testing.assert_allclose(errors.residual, model.reconstruction_error(X))


def test_exact_kernel_pca_has_no_error():
    certificate = fit(ell=np.inf).certificate_
    assert certificate.embedding.limit < 1e-6
    assert certificate.level("sample").operator < 1e-6


# ------------------------------------------------------------------ reference implementation


def explicit_features(kernel, points):
    """Return vectors whose inner products are the kernel values."""
    values, vectors = np.linalg.eigh(kernel(points))
    return vectors * np.sqrt(np.maximum(values, 0))


@pytest.mark.parametrize("center", [True, False])
def test_the_blocks_equal_those_of_explicit_features(center):
    """The reference computes T, its axes and h as arrays, with means over all rows."""
    kernel, n, q = Gaussian(2.0), 60, 4
    data = X[:n]
    density = ShadowDensity(kernel, 2.0).fit(data)
    points = density.reduced_set_.centers[density.labels_]
    features = explicit_features(kernel, np.concatenate([data, points]))
    psi, hat = features[:n], features[n:]
    offset = hat.mean(axis=0) if center else 0.0
    about = psi.mean(axis=0) if center else 0.0
    T, T_hat = (psi - about).T @ (psi - about) / n, (hat - offset).T @ (hat - offset) / n
    values, vectors = np.linalg.eigh(T_hat)
    mu, V = values[::-1][:q], vectors[:, ::-1][:, :q]
    H = T @ V - V * mu
    F = H - V @ (V.T @ H)

    pairs = FeaturePairs(
        psi @ psi.T, psi @ hat.T, hat @ hat.T, np.full(n, 1 / n), np.full(n, 1 / n),
        np.full(n, 1 / n**2), 0.0,
    )  # fmt: skip
    fx, fq = (psi - offset) @ V, (hat - offset) @ V
    sums = SampledSums(pairs, fx, fq, mu, float(mu[-1]), center=center, quantized=center)
    blocks = sums.blocks(n_steps=2)
    np.testing.assert_allclose(blocks.A, V.T @ T @ V, atol=1e-12)
    beyond = T - V @ (V.T @ T) - (T @ V) @ V.T + V @ (V.T @ T @ V) @ V.T
    for power, moment in enumerate(blocks.moments):
        expected = F.T @ np.linalg.matrix_power(beyond, power) @ F
        np.testing.assert_allclose(moment, expected, atol=1e-12)
    np.testing.assert_allclose(blocks.offsets, fx.mean(axis=0) if center else 0, atol=1e-12)


@pytest.mark.parametrize("center", [True, False])
def test_the_blocks_from_images_equal_those_of_explicit_features(center):
    """The model is the projection of T onto the span of a few rows."""
    kernel, n, q = Gaussian(2.0), 60, 4
    psi = explicit_features(kernel, X[:n])
    T = psi - psi.mean(axis=0) if center else psi
    T = T.T @ T / n
    span = np.linalg.qr(psi[:12].T)[0]
    values, vectors = np.linalg.eigh(span.T @ T @ span)
    mu, V = values[::-1][:q], span @ vectors[:, ::-1][:, :q]
    F = T @ V - V * mu
    weights = np.full(n, 1 / n)
    P = psi @ span
    pairs = ProjectedPairs(psi @ psi.T, P, weights, weights, weights / n, 0.0)
    fx = (psi - psi.mean(axis=0) if center else psi) @ V
    sums = ImageSums(pairs, fx, psi @ T @ V, mu, float(mu[-1]), center=center)
    blocks = sums.blocks(n_steps=2)
    np.testing.assert_allclose(blocks.A, V.T @ T @ V, atol=1e-12)
    beyond = T - V @ (V.T @ T) - (T @ V) @ V.T + V @ (V.T @ T @ V) @ V.T
    for power, moment in enumerate(blocks.moments):
        expected = F.T @ np.linalg.matrix_power(beyond, power) @ F
        np.testing.assert_allclose(moment, expected, atol=1e-12)


NARROW = Gaussian(2.5)


def small_samples(data, weights=None, *, size, center=True, kernel=NARROW):
    """Return a model, and analyses of a part of its row sample, without and with images."""
    model = NystromKernelPCA(4, kernel=kernel, landmarks=50, center=center)
    inner = model.fit(data, sample_weight=weights).model_
    parts = inner.kernel, inner.reduced_set, inner.system, inner.wider, size
    images = AxisImages(inner.wider, data, weights)
    return inner, Analysis.of(*parts), Analysis.of(*parts, images=images)


@pytest.mark.parametrize("kind", ["plain", "weighted", "uncentered", "float32", "sparse", "poly"])
def test_limits_are_narrower_if_the_images_of_the_axes_are_known(kind):
    data = datasets.blobs(3_000, 4, dtype=np.float32 if kind == "float32" else np.float64)
    weights = np.arange(3_000) % 3 + 1.0 if kind == "weighted" else None
    center, rows = kind != "uncentered", csr_array(data) if kind == "sparse" else data
    kernel = NamedKernel("poly", degree=4, gamma=0.05) if kind == "poly" else Gaussian(2.5)
    model, pairs, images = small_samples(rows, weights, size=1_500, center=center, kernel=kernel)
    exact = exact_embedding(kernel, data.astype(np.float64), 4, center, weights)[0]
    root = 1.0 if weights is None else np.sqrt(weights)[:, None]
    true = embedding_error(root * exact, root * model.embed(rows))
    rough, better = (one.embedding_limit(0.95, fast=True) for one in (pairs, images))
    if kind == "poly":  # the polynomials of degree 4 are almost in the span of 50 rows
        assert true < better.limit < 0.01
        return
    assert true < better.limit < rough.limit
    assert better.estimate == pytest.approx(true, rel=0.06)
    assert images.limits(0.95).embedding.estimate == pytest.approx(better.estimate, rel=1e-2)


def test_images_of_more_rows_continue_those_of_fewer_rows():
    data = datasets.blobs(3_000, 4)
    system = small_samples(data, size=100)[0].wider
    gradual, at_once = AxisImages(system, data, None), AxisImages(system, data, np.ones(3_000))
    few = gradual.at(data[:100])
    np.testing.assert_array_equal(gradual.at(data[:400])[:100], few)
    np.testing.assert_allclose(gradual.at(data[:400]), at_once.at(data[:400]), atol=1e-14)
    np.testing.assert_array_equal(gradual.at(data[:100]), few)


def test_estimates_from_images_are_bitwise_equal_for_any_number_of_threads():
    data, found = datasets.blobs(3_000, 4), []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads):
            found.append(small_samples(data, size=600)[2].embedding_limit(0.95, fast=True))
    assert found[0] == found[1]


def test_limits_from_images_cover_the_error():
    covered = []
    for seed in range(20):
        data = datasets.blobs(2_500, 4, seed=seed)
        model, _, images = small_samples(data, size=250)
        exact = NystromKernelPCA(4, kernel=NARROW, n_centers=800).fit(data).transform(data)
        true = embedding_error(exact, model.embed(data))
        covered.append(true <= images.embedding_limit(0.95, fast=True).limit)
    assert np.mean(covered) >= 0.9


def test_products_of_two_rows_and_of_a_row_with_itself_have_separate_weights():
    """The reference evaluates <f, f> for all pairs of the rows of an incomplete sample."""
    density = ShadowDensity(ell=2.0, sample_size=120)
    inner = fit(center=False, ell=None, density=density).model_
    analysis = Analysis.of(inner.kernel, inner.reduced_set, inner.system, inner.wider)
    sums, pairs = analysis._sums, analysis.pairs
    s, a, b = sums.s, sums.a, sums.b
    g = np.einsum("ip,iq->ipq", a, a) - np.einsum("ip,iq->ipq", b, b)

    def total(weights):
        """Return the sum of weights_ij <f_i, f_j> over all pairs of rows."""
        mixed = a.T @ (weights * pairs.xq) @ b
        inside = np.einsum("ij,ipk,jqk->pq", weights, g, g, optimize=True)
        own = a.T @ (weights * pairs.xx) @ a + b.T @ (weights * pairs.qq) @ b
        return own - mixed - mixed.T - inside

    different = np.outer(s, s) * (1 - np.eye(len(s)))
    expected = (1 - pairs.own.sum()) * total(different / different.sum())
    expected += total(np.diag(pairs.own))
    found = sums.blocks().moments[0]
    assert 0 < pairs.own.sum() < 1 / len(s)
    np.testing.assert_allclose(found, expected, atol=1e-10 * np.abs(expected).max())


@pytest.mark.parametrize("center", [True, False])
def test_projected_pairs_equal_general_pairs(center):
    """Projections in factored form give the same errors, sums and solutions."""
    inner = fit(center=center, basis=0.2, refine="nystrom", data=datasets.blobs(700, 3)).model_
    analysis = Analysis.of(inner.kernel, inner.reduced_set, inner.system, inner.wider, size=300)
    projected, rows = analysis.pairs, analysis.sample.rows
    assert isinstance(projected, ProjectedPairs)
    general = FeaturePairs.of(
        inner.kernel, analysis.sample, analysis.represent, rows, analysis.total
    )
    for of in (projected, general):
        assert of.mmd(0.95) == pytest.approx(general.mmd(0.95), rel=1e-9)
        found, expected = of.operator(0.95, center=center), general.operator(0.95, center=center)
        assert found == pytest.approx(expected, rel=1e-9)
    sums = analysis._sums
    fx = analysis._coordinates
    given = fx, fx, sums.mu, sums.largest
    slow = SampledSums(general, *given, center=center, quantized=False)
    for fast_part, slow_part in zip(sums.solve(3), slow.solve(3), strict=True):
        np.testing.assert_allclose(fast_part.squares, slow_part.squares, rtol=1e-7)
        np.testing.assert_allclose(fast_part.eigenvalues, slow_part.eigenvalues, rtol=1e-9)


# ------------------------------------------------------------------ samples


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_limit_of_a_sample_covers_the_error(kind):
    rows = datasets.blobs(2000, 3)
    model = fit(n_components=2, data=rows, ell=3.0, **KINDS[kind]).model_
    exact, values = exact_embedding(model.kernel, rows, 2, center=True)
    true = embedding_error(exact, model.embed(rows))
    labels = ShadowDensity(model.kernel, 3.0).fit(rows).labels_
    held, ratios, inside = [], [], []
    for seed in range(40):
        sample = RowSample.of(rows, np.ones(len(rows)), labels, seed).head(500)
        sampled = replace(model, reduced_set=replace(model.reduced_set, sample=sample))
        certificate = sampled.certificate
        held.append(certificate.embedding.limit >= true)
        ratios.append(certificate.embedding.limit / true)
        low, high = certificate.likely.T / len(rows)
        inside.append((low <= values) & (values <= high))
    assert np.mean(held) >= 0.94
    assert np.median(ratios) < 1.5
    assert np.mean(inside) >= 0.9


@pytest.mark.parametrize(("ell", "options"), [(4.0, {}), (3.0, {"refine": "nystrom"})])
def test_the_limit_covers_an_error_that_is_smaller_than_the_sampling_noise(ell, options):
    # Some of these samples give a negative estimate of the squared error.
    rows = make_blobs(2_500, 8, centers=6, random_state=0)[0]
    kernel = Laplacian().resolve(rows)
    model = ReducedSetKernelPCA(5, kernel=kernel, ell=ell, **options).fit(rows)
    exact, _ = exact_embedding(kernel, rows, 5, center=True)
    error = embedding_error(exact, model.transform(rows))
    assert error > 0.05
    labels, found = model.density_.labels_, []
    for seed in range(5):
        sample = RowSample.of(rows, np.ones(len(rows)), labels, seed).head(500)
        points = replace(model.reduced_set_, sample=sample)
        found.append(replace(model.model_, reduced_set=points).certificate.embedding)
    assert all(error <= estimate.limit < 2 * error for estimate in found)
    assert all(0.3 * error < estimate.estimate <= estimate.limit for estimate in found)


@pytest.mark.parametrize("kind", ["plain", "refined"])
def test_weighted_samples_estimate_the_weighted_error(kind):
    rng = np.random.default_rng(0)
    rows, weights = datasets.blobs(2500, 3), rng.exponential(size=2500) + 0.1
    options = {**KINDS[kind], "density": ShadowDensity(ell=3.0, sample_size=800)}
    model = ReducedSetKernelPCA(2, kernel=Gaussian(4.0), **options)
    model.fit(rows, sample_weight=weights)
    exact, _ = exact_embedding(Gaussian(4.0), rows, 2, center=True, weights=weights)
    root = np.sqrt(weights)[:, None]
    true = embedding_error(root * exact, root * model.transform(rows))
    found = model.certificate_.embedding
    assert found.estimate == pytest.approx(true, rel=0.3)
    assert true <= found.limit < 1.6 * true


def test_a_stream_has_the_same_certificate_as_one_fit():
    whole = fit(density=None)
    stream = ReducedSetKernelPCA(3, kernel=Gaussian(4.0), ell=3.0)
    for part in np.array_split(X, 7):
        stream.partial_fit(part)
    assert stream.certificate_.to_dict() == whole.certificate_.to_dict()


# ------------------------------------------------------------------ ties and bad input


def test_a_tie_at_the_last_component_is_reported():
    rng = np.random.default_rng(0)
    ring = rng.normal(size=(2000, 2))
    ring /= np.linalg.norm(ring, axis=1, keepdims=True)
    options = {"data": ring, "kernel": Gaussian(1.5), "ell": 4.0}
    tied, good = fit(n_components=1, **options), fit(n_components=2, **options)
    assert tied.certificate_.better_components in (2, 4)
    assert good.certificate_.better_components is None
    assert good.certificate_.embedding.limit < 0.5 * tied.certificate_.embedding.limit


def with_fill_value(value):
    """Return rows of which the first contains a fill value."""
    return np.concatenate([[[value, 0.0]], X[:100, :2]])


AWKWARD = {
    "two distinct rows": np.repeat([[0.0, 0.0], [1.0, 1.0]], 40, axis=0),
    "two rare rows": np.concatenate([np.zeros((1000, 2)), [[1.0, 0.0], [0.0, 1.0]]]),
    **{f"a fill value of {v:g}": with_fill_value(v) for v in (1e8, 1e20, 1e77, 1e100, 1e153)},
}


@pytest.mark.parametrize("rows", AWKWARD.values(), ids=AWKWARD)
def test_awkward_data_give_finite_numbers(rows):
    model = fit(n_components=1, data=rows, kernel=Gaussian(1.0))
    certificate = model.certificate_
    assert 0 <= certificate.embedding.estimate <= certificate.embedding.limit <= 1
    assert np.isfinite(certificate.likely).all()
    exact, _ = exact_embedding(Gaussian(1.0), rows, 1, center=True)
    true = embedding_error(exact, model.transform(rows))
    assert true <= certificate.embedding.limit + 1e-6


@pytest.mark.parametrize("value", [1e155, 1e200, 1e308])
def test_fill_values_whose_squares_overflow_are_reported(value):
    with pytest.raises(ValueError, match=r"overflow float64\. Rescale the data"):
        fit(n_components=1, data=with_fill_value(value), kernel=Gaussian(1.0))


def test_weights_with_a_huge_range_give_finite_numbers():
    weights = 10.0 ** np.linspace(-12, 12, len(X))
    model = ReducedSetKernelPCA(2, kernel=Gaussian(4.0), ell=3.0).fit(X, sample_weight=weights)
    certificate = model.certificate_
    assert 0 <= certificate.embedding.estimate <= certificate.embedding.limit <= 1
    assert np.isfinite(certificate.likely).all()


@pytest.mark.parametrize("n_rows", [50, 2500])
@pytest.mark.parametrize("spread", [0.0, 1e-3], ids=["equal rows", "one center"])
def test_one_center_gives_finite_numbers(n_rows, spread):
    rows = 1 + spread * np.random.default_rng(0).normal(size=(n_rows, 3))
    model = fit(n_components=1, data=rows, kernel=Gaussian(1.0), center=False)
    certificate = model.certificate_
    exact, values = exact_embedding(Gaussian(1.0), rows, 1, center=False)
    true = embedding_error(exact, model.transform(rows))
    assert model.n_centers_ == 1
    assert true <= certificate.embedding.limit + 1e-7
    low, high = certificate.likely[0] / n_rows
    assert low - 1e-12 <= values[0] <= high + 1e-12  # allows for rounding in the reference
    assert "nan" not in certificate.to_json().lower()
    with pytest.raises(ValueError, match="No component has a positive eigenvalue"):
        fit(n_components=1, data=rows, kernel=Gaussian(1.0), center=True)


@pytest.mark.parametrize("options", [{}, {"basis": 0.3, "refine": "nystrom"}])
def test_limits_cover_the_error_for_weights_with_a_huge_range(options):
    """Few rows carry nearly all of the weight, and all of them are sampled."""
    rng = np.random.default_rng(0)
    rows, weights = datasets.blobs(1500, 3), 10.0 ** rng.uniform(-12, 12, 1500)
    density = ShadowDensity(ell=3.0, sample_size=500)
    model = ReducedSetKernelPCA(2, kernel=Gaussian(4.0), density=density, **options)
    model.fit(rows, sample_weight=weights)
    exact, _ = exact_embedding(Gaussian(4.0), rows, 2, center=True, weights=weights)
    root = np.sqrt(weights)[:, None]
    true = embedding_error(root * exact, root * model.transform(rows))
    found = model.certificate_.embedding
    assert true <= found.limit + 1e-7
    assert "nan" not in model.certificate_.to_json().lower()


def test_row_errors_require_a_sample():
    model = fit(density=ShadowDensity(ell=3.0, sample_size=0), ell=None)
    with pytest.raises(ValueError, match="row_error requires a row sample"):
        model.row_error(X)


def test_part_of_a_sample_gives_the_same_limits_as_a_smaller_sample():
    rows = datasets.blobs(1500, 3)
    model, small = (
        fit(data=rows, ell=None, density=ShadowDensity(ell=3.0, sample_size=size)).model_
        for size in (1000, 400)
    )
    parts = model.kernel, model.reduced_set, model.system, model.wider
    found = Analysis.of(*parts, size=400).limits(0.95)
    assert found.embedding == pytest.approx(small.analysis.limits(0.95).embedding, rel=1e-9)
    assert Analysis.of(*parts, size=5000).sample is model.reduced_set.sample


def test_the_limit_alone_equals_that_of_all_limits():
    density = ShadowDensity(ell=3.0, sample_size=300)
    analysis = fit(ell=None, density=density).model_.analysis
    assert analysis.embedding_limit(0.9) == pytest.approx(analysis.limits(0.9).embedding, rel=1e-9)
    few = replace(analysis, sample=analysis.sample.head(50), points=analysis.points[:50])
    assert few.limits(0.9) is None
    assert few.embedding_limit(0.9) == (1.0, 1.0)


def test_fast_limits_are_similar():
    rows = datasets.blobs(4_000, 3)
    model = NystromKernelPCA(3, kernel=Gaussian(3.0), landmarks=40).fit(rows)
    slow, fast = (model.model_.analysis.embedding_limit(0.95, fast=fast) for fast in (False, True))
    assert fast.estimate == pytest.approx(slow.estimate, rel=1e-3)
    assert fast.limit != slow.limit
    assert fast.limit == pytest.approx(slow.limit, rel=0.25)
