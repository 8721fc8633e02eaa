"""Test that fitting a source is bitwise equal to fitting the array."""

import threading

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.decomposition import IncrementalPCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rskpca import (
    DiffusionMaps,
    FadingDensity,
    Gaussian,
    KernelPCANovelty,
    KMeansDensity,
    LaplacianEigenmaps,
    NormalizedCut,
    NystromKernelPCA,
    ReducedSetKernelPCA,
    ShadowDensity,
    WindowDensity,
    scaling,
)
from rskpca.baselines import SubsampledKernelPCA
from rskpca.data import open_source
from rskpca.density import _counting

from ..data.cases import KINDS, make_input

RNG = np.random.default_rng(0)
X = RNG.normal(size=(3000, 2)) @ RNG.normal(size=(2, 3)) + 0.1 * RNG.normal(size=(3000, 3))
ESTIMATORS = [
    ShadowDensity(Gaussian(1.5), ell=3.0),
    ShadowDensity("laplacian", ell=3.0, sample_size=0),
    ShadowDensity(Gaussian(1.5), ell=3.0, sample_size=100),
    ShadowDensity(ell=5.0, max_centers=60, sample_size=100),
    ReducedSetKernelPCA(2),
    ReducedSetKernelPCA(2, bandwidth=1.5, random_state=3),
    ReducedSetKernelPCA(2, kernel=Gaussian(), density=ShadowDensity(ell=3.0, random_state=4)),
    ReducedSetKernelPCA(2, density=ShadowDensity(Gaussian("median")), random_state=5),
    ReducedSetKernelPCA(2, basis=20, refine="nystrom"),
    DiffusionMaps(2),
    LaplacianEigenmaps(2, ell=3.0),
    NormalizedCut(2),
    KernelPCANovelty(ReducedSetKernelPCA(3)),
    KernelPCANovelty(),
    WindowDensity(1000),
    WindowDensity(1000, ShadowDensity(Gaussian("median"), ell=3.0, random_state=3)),
    FadingDensity(500.0, ShadowDensity(Gaussian(1.5))),
    FadingDensity(50.0, ShadowDensity(Gaussian(1.5), sample_size=100)),
    WindowDensity(1000, ShadowDensity(Gaussian(1.5), sample_size=100)),
    FadingDensity(500.0, kernel="laplacian"),
    ReducedSetKernelPCA(2, density=WindowDensity(1000)),
    ReducedSetKernelPCA(2, bandwidth=1.5, density=FadingDensity(500.0)),
]
ONCE = [kind for kind in KINDS if kind.startswith("iterator")]


def reduced_set(model):
    return getattr(model, "embedding_", model).reduced_set_


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_the_reduced_set_equals_that_of_fit(estimator):
    expected = reduced_set(estimator.fit(X))
    for block_rows in (3000, 701, 64):
        model = scaling.fit(estimator, open_source(X, block_rows=block_rows))
        assert reduced_set(model) == expected
        assert repr(model) == repr(estimator)


@pytest.fixture(scope="module")
def expected():
    return ReducedSetKernelPCA(2).fit(X)


@pytest.mark.parametrize("kind", sorted(set(KINDS) - set(ONCE)))
def test_every_kind_of_input_gives_the_same_model_and_sample(tmp_path, expected, kind):
    model = scaling.fit(ReducedSetKernelPCA(2), make_input(kind, tmp_path, X))
    assert model.reduced_set_ == expected.reduced_set_
    assert len(expected.reduced_set_.sample) == 2000
    np.testing.assert_array_equal(model.eigenvalues_, expected.eigenvalues_)


def test_a_source_gives_the_same_certificate_as_an_array(expected):
    model = scaling.fit(ReducedSetKernelPCA(2), open_source(X, block_rows=701))
    assert model.certificate_.to_dict() == expected.certificate_.to_dict()


@pytest.mark.parametrize("kind", ONCE)
def test_an_iterator_gives_the_same_model_if_the_bandwidth_is_a_number(tmp_path, kind):
    model = scaling.fit(ReducedSetKernelPCA(2, bandwidth=1.5), make_input(kind, tmp_path, X))
    assert model.reduced_set_ == ReducedSetKernelPCA(2, bandwidth=1.5).fit(X).reduced_set_


def test_a_csv_file_without_rows_is_reported(tmp_path):
    (tmp_path / "data.csv").write_text("a,b\n")
    with pytest.raises(ValueError, match=r"data\.csv' is empty: it has no rows"):
        scaling.fit(ReducedSetKernelPCA(2), tmp_path / "data.csv")


def test_the_first_block_of_an_iterator_determines_the_median_bandwidth():
    model = scaling.fit(ShadowDensity(), open_source(iter(np.array_split(X, 7)), block_rows=500))
    assert model.kernel_.bandwidth == ShadowDensity().fit(X[:500]).kernel_.bandwidth


def test_single_precision_is_preserved():
    single = X.astype(np.float32)
    model = scaling.fit(ReducedSetKernelPCA(2), single)
    assert model.reduced_set_ == ReducedSetKernelPCA(2).fit(single).reduced_set_
    assert model.reduced_set_.centers.dtype == np.float32


@pytest.mark.parametrize("weights", ["whole", "fractions"])
@pytest.mark.parametrize(
    "estimator", [ShadowDensity(), ReducedSetKernelPCA(2, refine="nystrom")], ids=repr
)
def test_a_weight_column_is_used_as_the_sample_weight(weights, estimator):
    counts = np.random.default_rng(1).integers(0, 4, size=len(X)) * 1.0
    counts[100:300] = 0  # blocks with zero weight
    if weights == "fractions":
        counts *= 0.37
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(count=counts)
    model = scaling.fit(estimator, open_source(frame, weight="count", block_rows=50))
    expected = estimator.fit(X, sample_weight=counts)
    assert reduced_set(model) == reduced_set(expected)


@pytest.mark.parametrize("bandwidth", [2.0, "median"])
@pytest.mark.parametrize("again", [True, False])
def test_weights_that_are_all_zero_raise_the_same_error_as_fit(tmp_path, bandwidth, again):
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(count=0.0)
    data = frame if again else iter([frame])
    for estimator in (
        ReducedSetKernelPCA(2, bandwidth=bandwidth),
        ShadowDensity(Gaussian(bandwidth)),
        KernelPCANovelty(ReducedSetKernelPCA(2, bandwidth=bandwidth)),
    ):
        data = frame if again else iter([frame])
        with pytest.raises(ValueError, match="must have a positive sum, but all weights are zero"):
            scaling.fit(estimator, open_source(data, weight="count", block_rows=500))


@pytest.mark.parametrize(
    "estimator",
    [
        ShadowDensity(warm_start=True),
        ReducedSetKernelPCA(2, density=ShadowDensity(warm_start=True)),
        KernelPCANovelty(ReducedSetKernelPCA(2, density=ShadowDensity(warm_start=True))),
    ],
    ids=repr,
)
def test_warm_start_has_no_effect(estimator):
    cold = reduced_set(clone(estimator).fit(X))
    fitted = clone(estimator).fit(5 * X)
    before = reduced_set(fitted)
    assert reduced_set(scaling.fit(fitted, open_source(X, block_rows=500))) == cold
    assert reduced_set(fitted) == before


def test_results_for_data_frames_with_mixed_dtypes_are_bitwise_equal_to_fit():
    frame = pd.DataFrame({"a": X[:, 0].astype(np.float32), "b": X[:, 1] > 0})
    density = ShadowDensity(Gaussian(1.0))
    model = scaling.fit(density, open_source(frame, block_rows=500))
    assert model.reduced_set_ == density.fit(frame).reduced_set_


def test_refine_reads_the_data_twice():
    refined = ReducedSetKernelPCA(2, basis=20, refine="nystrom")
    model = scaling.fit(refined, open_source(X, block_rows=500))
    expected = refined.fit(X)
    np.testing.assert_allclose(model.eigenvalues_, expected.eigenvalues_, rtol=1e-10)
    np.testing.assert_allclose(model.transform(X), expected.transform(X), rtol=0, atol=1e-8)
    with pytest.raises(ValueError, match=r'refine="nystrom" reads the data twice, but'):
        scaling.fit(refined, iter([X]))


def test_the_embedding_of_a_detector_is_refined():
    detector = KernelPCANovelty(ReducedSetKernelPCA(2, basis=20, refine="nystrom"))
    model = scaling.fit(detector, open_source(X, block_rows=500))
    assert detector.embedding.refine == model.embedding_.refine == "nystrom"
    assert model.embedding_.eigensystem_.exact
    np.testing.assert_allclose(
        model.score_samples(X), detector.fit(X).score_samples(X), rtol=1e-9, atol=1e-12
    )
    with pytest.raises(ValueError, match=r'refine="nystrom" reads the data twice, but'):
        scaling.fit(detector, iter([X]))


def test_a_nystrom_model_with_given_landmarks_equals_that_of_fit():
    estimator = NystromKernelPCA(2, landmarks=X[::100])
    model = scaling.fit(estimator, open_source(X, block_rows=700))
    assert model.kernel_.bandwidth == estimator.fit(X).kernel_.bandwidth
    np.testing.assert_allclose(model.eigenvalues_, estimator.eigenvalues_, rtol=1e-10)


def test_feature_names_are_preserved():
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = scaling.fit(ReducedSetKernelPCA(2), frame)
    np.testing.assert_array_equal(model.feature_names_in_, ["a", "b", "c"])
    model.transform(frame)  # the names agree, so there is no warning
    assert not hasattr(scaling.fit(ReducedSetKernelPCA(2), X), "feature_names_in_")


def test_the_model_can_be_updated():
    model = scaling.fit(ReducedSetKernelPCA(2, bandwidth=1.5), X[:2000])
    model.partial_fit(X[2000:])
    assert model.reduced_set_ == ReducedSetKernelPCA(2, bandwidth=1.5).fit(X).reduced_set_
    model.forget(X[:1000])
    assert model.reduced_set_.n_samples == 2000


def test_an_error_leaves_the_estimator_unfitted():
    invalid = X.copy()
    invalid[2345, 1] = np.nan
    estimator, before = ReducedSetKernelPCA(2, bandwidth=1.5), threading.active_count()
    with pytest.raises(ValueError, match=r"row 2,345 .*column 1, of the array"):
        scaling.fit(estimator, open_source(invalid, block_rows=100))
    assert not hasattr(estimator, "density_")
    assert threading.active_count() == before


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (
            KMeansDensity(9),
            "KMeansDensity cannot be fitted block by block: it does not support partial_fit. Use a "
            "ShadowDensity.$",
        ),
        (SubsampledKernelPCA(2), "SubsampledKernelPCA cannot be fitted block by block"),
        (
            ReducedSetKernelPCA(2, density=KMeansDensity(9)),
            "KMeansDensity does not support",
        ),
        (NystromKernelPCA(2, extension="data"), "NystromKernelPCA cannot be fitted block"),
        (KernelPCANovelty(SubsampledKernelPCA(2)), "SubsampledKernelPCA cannot be fitted block"),
        (
            IncrementalPCA(2),
            "IncrementalPCA cannot be fitted block by block because it is not a density",
        ),
    ],
)
def test_estimators_that_require_all_rows_are_rejected(estimator, message):
    with pytest.raises(TypeError, match=message):
        scaling.fit(estimator, X)


def test_invalid_parameters_are_reported_before_all_rows_are_read():
    with pytest.raises(ValueError, match="bandwidth must be a positive"):
        scaling.fit(ReducedSetKernelPCA(2, bandwidth=-1.0), X)
    with pytest.raises(ValueError, match="n_components must be"):
        scaling.fit(ReducedSetKernelPCA(0), lambda: iter([X, None]))
    pipeline = make_pipeline(StandardScaler(), ReducedSetKernelPCA(2, bandwidth=-1.0))
    with pytest.raises(ValueError, match="bandwidth must be a positive"):
        scaling.fit(pipeline, lambda: iter([X, None]))
    with pytest.raises(ValueError, match="bandwidth must be a positive"):
        scaling.fit(ReducedSetKernelPCA(2, bandwidth=-1.0), lambda: iter([X, None]))
    with pytest.raises(ValueError, match="progress must be True or False"):
        scaling.fit(ReducedSetKernelPCA(2), X, progress="yes")


def test_progress_is_reported_per_block():
    seen = []
    model = scaling.fit(
        ReducedSetKernelPCA(2),
        open_source(X, block_rows=1000),
        progress=lambda rows, n_centers: seen.append((rows, n_centers)),
    )
    assert [rows for rows, _ in seen] == [1000, 2000, 3000]
    assert seen[-1][1] == model.n_centers_


def test_no_progress_line_is_shown_without_a_terminal(capsys):
    scaling.fit(ReducedSetKernelPCA(2), X)
    assert capsys.readouterr().err == ""


def test_the_progress_line_ends_with_a_newline_if_the_length_is_unknown(capsys, monkeypatch):
    monkeypatch.setattr("rskpca._core.progress.time.monotonic", iter(range(0, 10**6, 2)).__next__)
    scaling.fit(ReducedSetKernelPCA(2, bandwidth=1.5), iter([X, X]), progress=True)
    lines = capsys.readouterr().err
    assert "6,000 rows, " in lines
    assert lines.endswith("\n")
    assert lines.count("\n") == 1


def test_a_progress_line_is_shown_on_request(capsys, monkeypatch):
    monkeypatch.setattr("rskpca._core.progress.time.monotonic", iter(range(0, 10**6, 2)).__next__)
    scaling.fit(ReducedSetKernelPCA(2), open_source(X, block_rows=1000), progress=True)
    lines = capsys.readouterr().err
    assert "1,000 of 3,000 rows (33%)" in lines
    assert "s left" in lines
    assert lines.rstrip().endswith("done")


@pytest.mark.parametrize("estimator", [ReducedSetKernelPCA(7), KernelPCANovelty(), DiffusionMaps()])
def test_a_source_that_does_not_compress_is_rejected_early(monkeypatch, estimator):
    monkeypatch.setattr(_counting, "MOST_CENTERS", 400)
    noise = open_source(RNG.uniform(size=(2000, 24)), block_rows=300)
    with pytest.raises(ValueError, match=r"do not compress at this radius: 600 of the first 600 r"):
        scaling.fit(estimator, noise)


@pytest.mark.parametrize("options", [{"ell": np.inf}, {"density": ShadowDensity(max_centers=500)}])
def test_many_centers_are_accepted_with_an_infinite_ell_or_with_max_centers(monkeypatch, options):
    monkeypatch.setattr(_counting, "MOST_CENTERS", 400)
    model = scaling.fit(ReducedSetKernelPCA(2, bandwidth=0.5, **options), X[:600])
    assert model.n_centers_ > 400
