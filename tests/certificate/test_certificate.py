"""Test that certificates report missing bounds and are valid, even after streaming and merging."""

import json
import pickle
from dataclasses import replace

import numpy as np
import pytest

from rskpca import (
    Certificate,
    Gaussian,
    Laplacian,
    RadialKernel,
    ReducedSet,
    ReducedSetKernelPCA,
    ShadowDensity,
)
from rskpca.certificate import Analysis, certify, eigenspaces, eigenvalues, levels
from rskpca.kernels import Kernel
from rskpca.spectral import Centered, Moments, Plain, ritz, solve
from tests import datasets

X = datasets.blobs(300, 3)
KERNELS = [Gaussian(4.0), Laplacian(4.0)]
IDS = ["Gaussian", "Laplacian"]
NAMES = ["a priori", "a posteriori", "sample", "residual"]


def fit_model(kernel=KERNELS[0], ell=4.0, center=True, n_components=4, **options):
    density = ShadowDensity(ell=ell, **options)
    return ReducedSetKernelPCA(n_components, kernel=kernel, density=density, center=center).fit(X)


def assert_valid(certificate, kernel, data, n_components=4):
    """Compare every number in a certificate with exact kernel PCA of the data."""
    center, n = certificate.centered, len(data)
    operator = Centered() if center else Plain()
    exact = solve(operator, kernel, ReducedSet(data, np.ones(n)), n_components).eigenvalues
    for intervals in (certificate.certain, certificate.likely):
        assert np.all(intervals[:, 0] <= exact + 1e-9 * n)
        assert np.all(exact <= intervals[:, 1] + 1e-9 * n)
    measured = certificate.level("measured")
    for level in certificate.levels[:3]:
        for name in ("mmd", "operator"):
            value = getattr(level, name)
            assert value is None or getattr(measured, name) <= value + 1e-6
    return exact


@pytest.mark.parametrize("kernel", KERNELS, ids=IDS)
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("ell", [2.0, 6.0, 40.0])
def test_the_certificate_is_valid(kernel, center, ell):
    model = fit_model(kernel, ell, center)
    certificate = model.certify(X)
    exact = assert_valid(certificate, kernel, X)
    assert [level.name for level in certificate.levels] == [*NAMES, "measured"]
    assert np.all(certificate.rayleigh <= exact + 1e-9 * len(X))
    for D, bounds in enumerate(
        zip(certificate.certain_angles, certificate.likely_angles, strict=True), start=1
    ):
        distance = eigenspaces.measure(kernel, X, model.reduced_set_, D, center=center)
        for angle in bounds:
            assert np.isnan(angle) or distance <= np.sqrt(2 * D) * np.sin(np.radians(angle)) + 1e-6
    if ell == 40.0:
        assert np.isfinite(certificate.likely_angles[0])


def test_later_levels_have_sharper_bounds():
    certificate = fit_model(ell=4.0).certify(X)
    errors = [level.operator for level in certificate.levels if level.name != "residual"]
    assert np.all(np.diff(errors) < 0)
    widths = [np.ptp(i, axis=1) for i in (certificate.certain, certificate.likely)]
    assert np.all(widths[1] < widths[0])


@pytest.mark.parametrize("center", [True, False])
def test_the_certificate_stays_valid_after_streaming_forgetting_and_merging(center):
    kernel, whole = Gaussian(4.0), fit_model(center=center)
    stream = ReducedSetKernelPCA(4, kernel=kernel, ell=4.0, center=center)
    for rows in np.array_split(X, 5):
        stream.partial_fit(rows)
    assert stream.certificate_.to_dict() == whole.certificate_.to_dict()
    stream.forget(X[200:])
    assert_valid(stream.certify(X[:200]), kernel, X[:200])
    halves = [ShadowDensity(kernel).fit(part).reduced_set_ for part in (X[:150], X[150:])]
    merged = halves[0].merge(halves[1])
    assert merged.radius > halves[0].radius
    operator = Centered() if center else Plain()
    system = solve(operator, kernel, merged, 4)
    certificate = certify(kernel, merged, system, Analysis.of(kernel, merged, system), X=X)
    # The reported ell follows from the actual radius, not from the requested ell.
    assert certificate.ell == pytest.approx(4.0 / merged.radius)
    assert_valid(certificate, kernel, X)


@pytest.mark.parametrize("center", [True, False])
def test_a_smaller_basis_adds_its_residual_to_the_bounds(center):
    kernel = Gaussian(4.0)
    s = ShadowDensity(kernel, 6.0).fit(X).reduced_set_
    moments = Moments.of(kernel, s.centers[:40]).add(s.centers, s.weights)
    system = ritz(moments, 4, center=center)
    certificate = certify(kernel, s, system, Analysis.of(kernel, s, system), X=X)
    left = certificate.level("residual").eigenvalue
    assert left == pytest.approx(system.residual / len(X))
    assert left > 0
    exact = assert_valid(certificate, kernel, X)
    assert np.all(certificate.rayleigh <= exact + 1e-9 * len(X))
    widths = certificate.certain[:, 1] - system.eigenvalues
    assert np.all(widths > len(X) * left)
    assert np.all(np.ptp(certificate.likely, axis=1) < np.ptp(certificate.certain, axis=1))


def test_the_certificate_is_valid_if_the_mean_is_outside_the_basis():
    """The bound must use the whole mean, not its projection onto the basis."""
    rows = np.zeros((1000, 2))
    rows[980:] = [10.0, 0.0]
    rows[981:, 1] = 0.2
    basis = ReducedSet(np.array([[0.0, 1.6]]), np.ones(1))
    density = ShadowDensity(ell=4.0)
    model = ReducedSetKernelPCA(1, kernel=Gaussian(1.0), density=density, basis=basis).fit(rows)
    certificate = model.certify(rows)
    measured = certificate.level("measured").operator
    assert measured == pytest.approx(0.01038, rel=1e-3)
    assert certificate.level("a posteriori").operator >= measured


def test_tied_eigenvalues_have_no_angle_bound():
    angles = np.pi / 4 * np.arange(8)
    octagon = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    model = ReducedSetKernelPCA(4, kernel=Gaussian(1.0), ell=np.inf).fit(octagon)
    certificate = model.certificate_
    assert certificate.eigenvalues[0] == pytest.approx(certificate.eigenvalues[1], rel=1e-12)
    assert np.isnan(certificate.certain_angles[[0, 2]]).all()
    assert np.all(certificate.certain_angles[[1, 3]] < 1e-6)
    assert np.all(np.diff(certificate.certain, axis=1) > 0)


@pytest.mark.parametrize("center", [True, False])
def test_a_refined_model_has_an_exact_level(center):
    model = ReducedSetKernelPCA(2, kernel=Gaussian(4.0), center=center, refine="nystrom").fit(X)
    certificate = model.certify(X)
    assert [level.name for level in certificate.levels] == ["exact", "sample", "residual"]
    assert "built from the data themselves" in str(certificate)
    assert certificate.rayleigh is not None


def test_the_intervals_of_exact_kernel_pca_have_zero_width():
    certificate = fit_model(ell=np.inf).certificate_
    np.testing.assert_allclose(certificate.certain[:, 0], certificate.eigenvalues)
    np.testing.assert_allclose(certificate.certain[:, 1], certificate.eigenvalues)
    assert np.nanmax(certificate.certain_angles[:3]) < 1e-6
    assert certificate.ell is None


# ------------------------------------------------------------------------ missing bounds


def test_bounds_are_missing_for_a_kernel_without_a_lipschitz_constant():
    bare = RadialKernel(lambda s: 1 / (1 + s), 2, 4.0)
    certificate = fit_model(bare).certificate_
    prior, posterior, sample, _ = certificate.levels
    assert "monotone=True" in prior.missing
    assert prior.mmd is prior.operator is None
    assert "Lipschitz" in posterior.missing
    assert posterior.operator is None
    assert sample.missing == ""
    assert sample.operator > 0
    shown = str(certificate)
    for name in ("a priori: the smallest", "a posteriori: the kernel"):
        assert name in shown
    assert_valid(fit_model(bare).certify(X), bare, X)
    monotone = RadialKernel(lambda s: 1 / (1 + s), 2, 4.0, monotone=True)
    prior = fit_model(monotone).certificate_.level("a priori")
    assert prior.operator is not None
    assert "Theorem 5.2" in prior.missing
    assert_valid(fit_model(monotone).certify(X), monotone, X)


def test_no_level_is_missing_for_a_custom_kernel_with_a_lipschitz_constant():
    cauchy = RadialKernel(lambda s: 1 / (1 + s), 2, 4.0, lipschitz=3 * np.sqrt(3) / 8)
    certificate = fit_model(cauchy).certify(X)
    assert [level.missing == "" for level in certificate.levels[:3]] == [True, True, True]
    assert_valid(certificate, cauchy, X)


def test_a_missing_sample_is_reported():
    certificate = fit_model(sample_size=0).certificate_
    assert "sample_size=0" in certificate.level("sample").missing
    assert certificate.embedding is None
    np.testing.assert_array_equal(certificate.likely, certificate.certain)
    kernel, s = Gaussian(4.0), ReducedSet(X[:50], np.full(50, 6.0))
    certificate = certify(kernel, s, solve(Plain(), kernel, s, 3))
    assert all(level.missing for level in certificate.levels[:3])
    assert [level.confidence for level in certificate.levels] == [1.0, 1.0, 0.95, 1.0]
    np.testing.assert_array_equal(certificate.certain, [[0.0, 300.0]] * 3)
    assert np.isnan(certificate.certain_angles).all()
    assert "with unknown radius" in str(certificate)


def test_a_sample_of_too_few_rows_is_reported():
    certificate = fit_model(sample_size=10).certificate_
    assert "10 rows, fewer than 100" in certificate.level("sample").missing
    assert certificate.embedding is None


def test_the_kernel_of_the_model_may_differ_from_that_of_the_density():
    kernel, s = Laplacian(5.0), ShadowDensity(Gaussian(3.0), 4.0).fit(X).reduced_set_
    system = solve(Plain(), kernel, s, 3)
    certificate = certify(kernel, s, system, Analysis.of(kernel, s, system), X=X)
    assert certificate.ell == pytest.approx(5.0 / 0.75)
    assert_valid(certificate, kernel, X, 3)


def test_the_certificate_does_not_depend_on_later_parameter_changes():
    model = fit_model(center=True)
    before = model.certificate_.to_dict()
    assert model.set_params(center=False).certificate_.to_dict() == before


def test_models_with_other_operators_cannot_be_certified():
    s = ReducedSet(X[:50], np.full(50, 6.0))
    system = solve(Plain(), Gaussian(4.0), s, 3)
    with pytest.raises(
        TypeError, match="plain or centered kernel PCA can be certified, got the operator str"
    ):
        certify(Gaussian(4.0), s, replace(system, operator="diffusion"))


# ------------------------------------------------------------------------------ output


def test_the_certificate_can_be_displayed_as_text_html_and_json():
    certificate = fit_model().certify(X, confidence=0.9)
    assert isinstance(certificate, Certificate)
    shown = str(certificate)
    for part in (
        *NAMES,
        "measured",
        "90% confidence",
        "90% interval",
        "guaranteed interval",
        "lower bound on these rows",
        "n/a (eigengap too small)",
        "300 rows",
    ):
        assert part in shown
    page = certificate._repr_html_()
    assert page.count("<tr>") == 2 + 5 + 4
    assert "n/a (eigengap too small)" in page
    plain = json.loads(certificate.to_json())
    assert plain == certificate.to_dict()
    assert plain["levels"][2]["confidence"] == 0.9
    assert plain["levels"][2]["estimate"]["operator"] < plain["levels"][2]["operator"]
    assert 0 < plain["embedding"]["estimate"] < plain["embedding"]["limit"]
    assert None in plain["certain_angles"]
    assert pickle.loads(pickle.dumps(certificate)).to_dict() == plain


def test_long_tables_are_truncated():
    certificate = fit_model(n_components=30).certificate_
    assert "10 more components" in str(certificate)
    assert len(certificate.to_dict()["likely"]) == 30


def test_a_higher_confidence_level_gives_wider_intervals():
    model = fit_model(sample_size=150)
    wide, narrow = (model.certify(confidence=c) for c in (0.99, 0.5))
    assert np.all(np.ptp(wide.likely, axis=1) > np.ptp(narrow.likely, axis=1))
    assert wide.embedding.limit > narrow.embedding.limit
    assert wide.embedding.estimate == narrow.embedding.estimate


def test_only_the_sample_has_a_confidence_below_one():
    certificate = fit_model().certify(X, confidence=0.9)
    assert [level.confidence for level in certificate.levels] == [1.0, 1.0, 0.9, 1.0, 1.0]


@pytest.mark.parametrize("center", [True, False])
def test_rows_without_a_center_widen_the_bounds(center):
    """Half of the weight is lost, and the operators of the two halves differ by at most 6 kappa."""
    kernel, s = Gaussian(4.0), ShadowDensity(Gaussian(4.0), 4.0).fit(X).reduced_set_
    system = solve(Centered() if center else Plain(), kernel, s, 3)
    analysis = Analysis.of(kernel, s, system)
    whole, half = (
        certify(kernel, part, system, analysis) for part in (s, replace(s, lost=s.n_samples))
    )
    for before, after in zip(whole.levels[:3], half.levels[:3], strict=True):
        assert after.mmd == pytest.approx(before.mmd + 1)
        assert after.operator == pytest.approx(before.operator + 3)
        assert after.eigenvalue == pytest.approx(before.eigenvalue + 3)
    assert not half.all_rows


@pytest.mark.parametrize("center", [True, False])
def test_bounds_in_feature_space_are_valid_for_a_linear_kernel(center):
    linear = Kernel(lambda X, Y: X @ Y.T)
    rows, weights = X[:200], np.ones(200)
    s = ShadowDensity(linear, ell=4.0).fit(rows).reduced_set_
    prior, posterior = levels.in_feature_space(linear, s, center=center)

    def operator(points, weights):
        share = weights / weights.sum()
        about = points - (share @ points if center else 0)
        return share @ points, about.T @ (share[:, None] * about)

    (mean, exact), (other, reduced) = operator(rows, weights), operator(s.centers, s.weights)
    assert 0 < np.linalg.norm(exact - reduced) <= posterior.operator <= prior.operator
    assert 0 < np.linalg.norm(mean - other) <= posterior.mmd <= prior.mmd == pytest.approx(s.radius)


def test_a_row_displaced_along_its_center_attains_the_bound_in_feature_space():
    sums = {"displacement": np.array([0.5]), "scatter": np.array([0.25])}
    s = ReducedSet(np.array([[3.0]]), np.ones(1), 0.5, in_feature_space=True, **sums)
    linear = Kernel(lambda X, Y: X @ Y.T)
    for level in levels.in_feature_space(linear, s, center=False):
        assert level.operator == pytest.approx(3.5**2 - 3.0**2)
    for level in levels.in_feature_space(linear, s, center=True):
        assert level.operator == pytest.approx(2 * (3.5**2 - 3.0**2))


@pytest.mark.parametrize("confidence", [0.0, 1.0, -0.5, 95, np.nan, "0.95", True, None])
def test_an_invalid_confidence_is_reported(confidence):
    with pytest.raises(ValueError, match="confidence must be a number between 0 and 1"):
        fit_model().certify(confidence=confidence)


def test_invalid_input_is_reported():
    model = fit_model()
    with pytest.raises(ValueError, match="2 features"):
        model.certify(X[:, :2])
    with pytest.raises(ValueError, match="sample_weight"):
        model.certify(X, sample_weight=np.ones(3))
    with pytest.raises(ValueError, match=r"name must be one of a priori.*got 'posterior'"):
        model.certificate_.level("posterior")


def test_measured_errors_treat_integer_weights_as_repeated_rows():
    weights = np.random.default_rng(0).integers(1, 4, len(X))
    model = fit_model()
    weighted = model.certify(X, sample_weight=weights).to_dict()
    repeated = model.certify(np.repeat(X, weights, axis=0)).to_dict()
    for key in ("mmd", "operator"):
        assert weighted["levels"][-1][key] == pytest.approx(repeated["levels"][-1][key], rel=1e-6)
    np.testing.assert_allclose(weighted["rayleigh"], repeated["rayleigh"])


# --------------------------------------------------------------------------- real data

STEPS = {  # about 500 evenly spaced rows; the benchmark uses 3,000
    "german": 2, "pendigits": 22, "usps": 18, "yale": 4, "yaleb_ext": 6,
    "mnist": 140, "covtype": 1200, "skin": 500, "optdigits": 12, "magic": 40,
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", STEPS)
def test_the_bounds_are_valid_on_real_data(name):
    rows = datasets.load(name, STEPS[name])
    for family in (Gaussian, Laplacian):
        kernel = family().resolve(rows)
        for center in (True, False):
            model = ReducedSetKernelPCA(3, kernel=kernel, ell=3.0, center=center).fit(rows)
            assert_ordered(model.certify(rows).levels)
        labels = model.density_.labels_
        gram = eigenvalues.measure_gram(kernel, rows, model.reduced_set_.centers, labels)
        assert gram <= eigenvalues.bound(kernel, 3.0)


def assert_ordered(levels):
    measured = levels[-1]
    for level in levels[:2]:
        assert measured.mmd <= level.mmd
        assert measured.operator <= level.operator
