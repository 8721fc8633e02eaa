"""Test the content of the plots for every kind of model."""

import subprocess
import sys
import warnings

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import StandardScaler

from rskpca import (
    DiffusionMaps,
    Gaussian,
    KernelPCA,
    NystromKernelPCA,
    RadialKernel,
    ReducedSetKernelPCA,
    ShadowDensity,
    plan,
    select_reduced_set,
)
from rskpca.baselines import SubsampledKernelPCA
from rskpca.plotting import (
    CertificateDisplay,
    DensityDisplay,
    EmbeddingDisplay,
    RetentionDisplay,
    SpectrumDisplay,
)
from rskpca.plotting.density import estimates
from rskpca.plotting.embedding import Colors, diameters
from tests.plotting.cases import MODELS, X

mpl.use("agg")


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def model():
    return ReducedSetKernelPCA(4, ell=3.0).fit(X)


# ------------------------------------------------------------------------------ every model


@pytest.mark.parametrize("unfitted", MODELS, ids=repr)
def test_every_model_can_be_plotted(unfitted):
    fitted = clone(unfitted).fit(X)
    assert len(SpectrumDisplay.from_estimator(fitted).eigenvalues) == 3
    assert EmbeddingDisplay.from_estimator(fitted, X).coordinates.shape == (600, 3)
    assert RetentionDisplay.from_estimator(fitted, X).retention.n_samples == 600
    assert len(DensityDisplay.from_estimator(fitted, X, features=(0, 2)).axes_) == 2


def test_a_compressed_model_can_be_plotted(model):
    small = select_reduced_set(model, n_centers=10)
    assert len(EmbeddingDisplay.from_estimator(small, X).centers) == 10
    assert len(SpectrumDisplay.from_estimator(small).eigenvalues) == 4


def test_unsupported_and_unfitted_models_raise_an_error():
    with pytest.raises(TypeError, match="StandardScaler"):
        EmbeddingDisplay.from_estimator(StandardScaler().fit(X), X)
    with pytest.raises(NotFittedError):
        SpectrumDisplay.from_estimator(ReducedSetKernelPCA(2))
    with pytest.raises(TypeError, match="ShadowDensity is a density"):
        SpectrumDisplay.from_estimator(ShadowDensity().fit(X))
    with pytest.raises(TypeError, match="SubsampledKernelPCA has no certificate"):
        CertificateDisplay.from_estimator(SubsampledKernelPCA(2, n_centers=20).fit(X))


@pytest.mark.parametrize(
    "draw", [SpectrumDisplay.from_estimator, CertificateDisplay.from_estimator]
)
def test_plots_can_be_drawn_on_existing_axes(model, draw):
    figure, ax = plt.subplots()
    display = draw(model, ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert ax.has_data()
    assert display.plot().ax_ is not ax


def test_data_frames_cause_no_warning_about_feature_names():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    fitted = ReducedSetKernelPCA(2).set_output(transform="pandas").fit(frame)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        EmbeddingDisplay.from_estimator(fitted, frame, color=frame["a"], n_rows=100)
        display = DensityDisplay.from_estimator(fitted, frame, features=(0, 2))
    assert display.axes_[0].get_xlabel() == "a"
    assert display.axes_[0].get_ylabel() == "c"


# ------------------------------------------------------------------------------ spectrum


def test_the_spectrum_shows_the_certified_intervals(model):
    display = SpectrumDisplay.from_estimator(model)
    certificate = model.certificate_
    np.testing.assert_allclose(display.likely, certificate.likely / 600)
    dots = display.ax_.get_lines()[0].get_ydata()
    np.testing.assert_allclose(dots, model.eigenvalues_ / 600)
    bars = display.ax_.collections[1].get_segments()
    np.testing.assert_allclose([bar[1, 1] for bar in bars], certificate.likely[:, 1] / 600)
    again = SpectrumDisplay.from_certificate(certificate)
    np.testing.assert_array_equal(again.eigenvalues, display.eigenvalues)


def test_the_spectrum_of_a_random_walk_has_a_linear_axis():
    ax = SpectrumDisplay.from_estimator(DiffusionMaps(3).fit(X)).ax_
    assert ax.get_yscale() == "linear"
    assert not ax.collections
    slow = SpectrumDisplay(np.array([0.99, 0.97]), walk=True).plot().ax_
    assert slow.get_ylim()[0] > 0.9  # small differences are visible


def test_the_axis_label_indicates_whether_eigenvalues_are_divided_by_n():
    landmarks = NystromKernelPCA(2, n_centers=30, extension="data").fit(X)
    display = SpectrumDisplay.from_estimator(landmarks)
    np.testing.assert_allclose(display.eigenvalues, landmarks.eigenvalues_)
    assert display.ax_.get_ylabel() == "eigenvalue"
    divided = SpectrumDisplay.of_model(landmarks.model_, 600).plot()
    assert divided.ax_.get_ylabel() == "eigenvalue / n"


def test_a_guaranteed_interval_is_drawn_once():
    fitted = ReducedSetKernelPCA(2, density=ShadowDensity(sample_size=0)).fit(X)
    ax = SpectrumDisplay.from_estimator(fitted).ax_
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["guaranteed interval", "this model"]


# ------------------------------------------------------------------------------ embedding


def test_rows_are_sampled_together_with_their_colors(model):
    y = np.asarray(X[:, 0])
    display = EmbeddingDisplay.from_estimator(model, X, color=y, n_rows=50)
    assert display.coordinates.shape == (50, 4)
    index = [int(np.flatnonzero(y == value)[0]) for value in display.colors.values]
    np.testing.assert_allclose(display.coordinates, model.transform(X)[index], atol=1e-12)


def test_the_plot_method_shows_the_embedding(model):
    y = np.where(X[:, 0] > 0, "right", "left")
    display = model.plot(X, color=y, components=(0, 2))
    assert display.colors.names == ("left", "right")
    assert display.ax_.get_ylabel() == "component 3"
    np.testing.assert_allclose(display.coordinates, model.transform(X), atol=1e-12)
    sampled = model.plot()  # the rows that were sampled during the fit
    expected = model.transform(model.reduced_set_.sample.rows)
    np.testing.assert_allclose(sampled.coordinates, expected, atol=1e-12)
    landmarks = NystromKernelPCA(2, n_centers=30).fit(X)
    assert len(landmarks.plot().coordinates) in (30, 600)
    with pytest.raises(ValueError, match="color requires X"):
        model.plot(color=y)


def test_every_pair_of_components_is_plotted(model):
    display = EmbeddingDisplay.from_estimator(model, X, components=(0, 2, 3))
    labels = [(ax.get_xlabel(), ax.get_ylabel()) for ax in display.axes_]
    assert labels == [
        ("component 1", "component 3"),
        ("component 1", "component 4"),
        ("component 3", "component 4"),
    ]
    with pytest.raises(ValueError, match="3 axes"):
        display.plot(plt.subplots(1, 2)[1])


@pytest.mark.parametrize("components", [(0,), (0, 0), (0, 4), (-1, 0)])
def test_invalid_components_raise_an_error(model, components):
    with pytest.raises(ValueError, match="components"):
        EmbeddingDisplay.from_estimator(model, X, components=components)


def test_colors_require_one_value_per_row(model):
    with pytest.raises(ValueError, match=r"one value per row \(600 values\), got 3"):
        EmbeddingDisplay.from_estimator(model, X, color=[1, 2, 3])


def test_strings_and_a_few_distinct_integers_are_treated_as_categories():
    assert Colors.of([3, 1, 3]).names == ("1", "3")
    assert Colors.of(["b", "a", "b"]).names == ("a", "b")
    assert Colors.of([True, False]).names == ("False", "True")
    assert Colors.of([0.5, 1.0]).names is None
    assert Colors.of([1.0, np.nan]).names is None
    assert Colors.of(np.arange(50)).names is None
    with pytest.raises(ValueError, match="shape"):
        Colors.of(X)


def test_rare_categories_share_one_color():
    words = [f"word {k}" for k in range(30) for _ in range(k + 1)]
    colors = Colors.of(words)
    assert len(colors.names) == 10
    assert colors.names[-1] == "other"
    assert "word 29" in colors.names
    rare = [colors.names[k] for w, k in zip(words, colors.values, strict=True) if w == "word 3"]
    assert set(rare) == {"other"}


def test_the_area_of_a_center_is_proportional_to_its_weight():
    sizes = diameters(np.array([1.0, 4.0]), 2)
    assert sizes[1] == pytest.approx(2 * sizes[0])
    assert len(set(diameters(None, 5))) == 1


# ------------------------------------------------------------------------------ retention


def test_the_retention_curve_marks_the_ell_of_the_model(model):
    display = RetentionDisplay.from_estimator(model, X)
    assert display.retention.ell == pytest.approx(3.0)
    assert display.retention.chosen == model.n_centers_
    assert f"{model.n_centers_:,} centers" in display.ax_.texts[0].get_text()


def test_the_retention_curve_of_a_sample_is_extrapolated(model):
    display = RetentionDisplay.from_estimator(model, X[:300], n_samples=600)
    assert display.retention.n_samples == 600
    assert (display.retention.low < display.retention.high).any()
    whole = RetentionDisplay.from_estimator(NystromKernelPCA(2, n_centers=20).fit(X), X)
    assert whole.retention.chosen is None
    assert not whole.ax_.texts


def test_the_retention_curves_from_data_and_from_a_plan_agree():
    planned = plan(X, ell=3.0)
    display = RetentionDisplay.from_plan(planned)
    assert display.retention.chosen == planned.asked.n_centers
    of_data = RetentionDisplay.from_data(X, Gaussian(planned.kernel.scale), ell=3.0)
    np.testing.assert_allclose(of_data.retention.n_centers, display.retention.n_centers, rtol=0.1)
    with pytest.raises(ValueError, match="ell must be a positive"):
        RetentionDisplay.from_data(X, ell=-1.0)


# ------------------------------------------------------------------------------ density


@pytest.mark.parametrize("kernel", [Gaussian(1.5), "laplacian"])
def test_the_density_of_the_reduced_set_equals_score_samples(kernel):
    density = ShadowDensity(kernel, ell=3.0).fit(X[:, :2])
    display = DensityDisplay.from_estimator(density, X[:, :2], n_points=7)
    points = np.stack([a.ravel() for a in np.meshgrid(*display.estimates.grid, indexing="ij")], 1)
    expected = np.exp(density.score_samples(points)).reshape(7, 7)
    np.testing.assert_allclose(display.estimates.reduced, expected, rtol=1e-6, atol=1e-12)


def test_the_marginal_density_is_plotted_for_two_of_three_features():
    """Compare with a numerical integral over the third feature for a Gaussian kernel."""
    kernel, centers, weights = Gaussian(1.5), X[:20], np.arange(1.0, 21.0)
    found = estimates(kernel, X[:20, :2], centers[:, :2], weights, 4)
    along = np.linspace(-25, 25, 400)
    points = np.stack([a.ravel() for a in np.meshgrid(*found.grid, along, indexing="ij")], axis=1)
    full = kernel(points, centers) @ weights / weights.sum() / (np.pi**1.5 * 1.5**3)
    marginal = full.reshape(4, 4, 400).sum(axis=2) * (along[1] - along[0])
    np.testing.assert_allclose(found.reduced, marginal, rtol=1e-6, atol=1e-12)


def test_both_densities_are_equal_if_every_row_is_a_center():
    display = DensityDisplay.from_estimator(ShadowDensity(ell=np.inf).fit(X[:, :1]), X[:, :1])
    assert display.estimates.distance == pytest.approx(0, abs=1e-9)
    assert len(display.axes_) == 1


def test_the_grid_stays_close_to_the_rows_if_the_kernel_is_wide():
    grid = estimates(Gaussian(1e3), X[:, :2], X[:20, :2], None, 5).grid
    for axis, column in zip(grid, X.T, strict=False):
        assert np.ptp(axis) == pytest.approx(1.5 * np.ptp(column))
    level = np.ones((30, 1))
    assert np.ptp(estimates(Gaussian(2.0), level, level, None, 5).grid[0]) == pytest.approx(3.2)


def test_the_density_is_plotted_unnormalized_if_the_kernel_has_no_integral():
    kernel = RadialKernel(lambda s: 1 / (1 + s), 2, 2.0, monotone=True)
    display = DensityDisplay.from_estimator(ShadowDensity(kernel).fit(X[:, :1]), X[:, :1])
    assert display.estimates.data.max() <= 1


@pytest.mark.parametrize(
    ("features", "message"),
    [(None, "must be given"), ((0, 1, 2), "one or two"), ((0, 0), "different"), ((0, 3), "0 to 2")],
)
def test_invalid_features_raise_an_error(model, features, message):
    with pytest.raises(ValueError, match=message):
        DensityDisplay.from_estimator(model, X, features=features)


# ------------------------------------------------------------------------------ certificate


def test_every_level_shows_its_three_bounds(model):
    display = CertificateDisplay.from_estimator(model, X)
    names = [level.name for level in display.certificate.levels]
    assert names[-1] == "measured"
    operator = display.ax_.get_lines()[1].get_xdata()
    expected = [level.operator or np.nan for level in display.certificate.levels]
    np.testing.assert_allclose(operator, expected)
    assert [text.get_text() for text in display.ax_.texts] == ["no error"]


def test_refined_models_show_three_levels():
    fitted = ReducedSetKernelPCA(2, basis=0.5, refine="nystrom").fit(X)
    display = CertificateDisplay.from_certificate(fitted.certificate_)
    names = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert names == ["exact", "sample\nat 95%", "residual"]
    assert display.ax_.get_ylim() == (2.5, -0.5)  # no marker lies on the edge


def test_measuring_the_errors_keeps_the_estimates(model):
    measured = CertificateDisplay.from_estimator(model, X).certificate
    assert measured.embedding == model.certificate_.embedding
    assert measured.level("sample") == model.certificate_.level("sample")


# ------------------------------------------------------------------------------ imports


def test_importing_plotting_does_not_import_matplotlib():
    code = "import rskpca.plotting, sys; sys.exit('matplotlib' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_error_without_matplotlib_explains_how_to_install_it(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    for plot in (lambda: SpectrumDisplay.from_estimator(model), model.plot):
        with pytest.raises(ImportError, match=r'pip install "\.\[plot\]"'):
            plot()


def test_dollar_signs_in_names_are_not_interpreted_as_formulas(tmp_path):
    names = ["price in $ (1 $ = 1 \\frac)", "$a$", "b"]
    frame = pd.DataFrame(X[:200, :3], columns=names)
    fitted = ReducedSetKernelPCA(3, bandwidth=4.0).fit(frame)
    groups = np.where(np.arange(200) % 2, "$\\frac$", "other")
    for display in (
        DensityDisplay.from_estimator(fitted, frame, features=(0, 1)),
        EmbeddingDisplay.from_estimator(fitted, frame, color=groups),
    ):
        np.ravel(display.axes_)[0].figure.savefig(tmp_path / "plot.png")
    (legend,) = [ax.get_legend() for ax in np.ravel(display.axes_) if ax.get_legend()]
    assert "\\$\\frac\\$" in [text.get_text() for text in legend.get_texts()]


@pytest.mark.parametrize("display", [RetentionDisplay, DensityDisplay])
def test_plots_in_units_of_the_bandwidth_require_a_radial_kernel(display):
    model = KernelPCA(2, kernel="poly").fit(X[:, :2])
    with pytest.raises(ValueError, match=r"kernel must be a radial kernel.*NamedKernel"):
        display.from_estimator(model, X[:, :2])
    assert EmbeddingDisplay.from_estimator(model, X[:, :2]).ax_ is not None
    assert SpectrumDisplay.from_estimator(model).ax_ is not None
