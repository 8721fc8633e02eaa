"""Test that a certificate is summarized in one or two correct sentences."""

import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_moons

from rskpca import Gaussian, NormalizedCut, ReducedSet, ReducedSetKernelPCA, ShadowDensity
from rskpca.certificate import certify
from rskpca.pairs import Estimate
from rskpca.spectral import Plain, solve
from tests import datasets

X = datasets.blobs(3000, 3)
DIFFER = "Coordinates differ from those of exact kernel PCA by"


@pytest.fixture(scope="module")
def certificate():
    return ReducedSetKernelPCA(3).fit(X).certificate_


def test_the_summary_states_the_estimate_and_its_limit(certificate):
    estimate, limit = (f"{100 * value:.2g}%" for value in certificate.embedding)
    assert estimate != limit
    expected = f"{DIFFER} an estimated {estimate} (at most {limit}, with 95% confidence)."
    assert certificate.summary == expected


def test_the_summary_is_shown_first(certificate):
    assert str(certificate).startswith(f"{certificate.summary}\n\nCertificate of centered kernel")
    assert certificate._repr_html_().startswith(f"<p><strong>{certificate.summary}</strong></p>")
    plain = json.loads(certificate.to_json())
    assert plain["summary"] == certificate.summary
    assert plain["embedding"] == certificate.embedding._asdict()
    assert plain["all_rows"] is False


def test_the_summary_states_the_confidence():
    shown = ReducedSetKernelPCA(3).fit(X).certify(confidence=0.99).summary
    assert "with 99% confidence" in shown


@pytest.mark.parametrize(
    ("embedding", "text"),
    [
        (
            Estimate(0.5, 1.0),
            "Coordinates may be unrelated to those of exact kernel PCA: the estimated error is "
            "50%, and the row sample does not exclude 100%.",
        ),
        (Estimate(0.12, 0.15), f"{DIFFER} an estimated 12% (at most 15%, with 95% confidence)."),
        (Estimate(1e-5, 9e-5), f"{DIFFER} less than 0.01%, with 95% confidence."),
        (
            Estimate(1e-9, 9e-8),
            "Coordinates equal those of exact kernel PCA up to rounding, with 95% confidence.",
        ),
    ],
)
def test_errors_are_described_in_words(certificate, embedding, text):
    assert replace(certificate, embedding=embedding).summary == text


def test_nothing_is_claimed_about_walks_that_the_sample_does_not_represent():
    moons = make_moons(5000, noise=0.05, random_state=0)[0]
    model = NormalizedCut(2).fit(moons)
    assert model.certificate_.embedding.limit == 1
    assert model.certificate_.summary == (
        "The error of the coordinates and of the labels is unknown, because the data consist of "
        "separate clusters at this bandwidth, whose eigenvalues equal 1 up to rounding. If you "
        "expect these clusters, the bandwidth is suitable."
    )


def test_a_narrow_kernel_on_connected_data_is_named_as_the_reason(certificate):
    walk = replace(certificate, method="diffusion maps", embedding=Estimate(1.0, 1.0))
    values = np.linspace(0.9999, 0.9, len(certificate.eigenvalues))
    assert replace(walk, eigenvalues=values).summary == (
        "The error of the coordinates is unknown, because the bandwidth is too small for the row "
        "sample; a larger one may help."
    )


def test_errors_are_measured_if_the_sample_contains_all_rows(certificate):
    rows = X[:500]
    measured = ReducedSetKernelPCA(3).fit(rows).certificate_
    value = f"{100 * measured.embedding.estimate:.2g}%"
    assert measured.summary == f"{DIFFER} {value}, measured on all rows."
    assert measured.level("sample").meaning == "all pairs of 500 rows"
    assert certificate.level("sample").meaning == "pairs of 2,000 sampled rows"
    assert "estimated" not in replace(measured, embedding=Estimate(0.5, 1.0)).summary
    wider = replace(measured, embedding=Estimate(0.02, 0.03)).summary
    assert wider == f"{DIFFER} 2% (at most 3%), measured on all rows."
    exact = ReducedSetKernelPCA(3, ell=np.inf).fit(rows).certificate_
    assert exact.summary == "Coordinates equal those of exact kernel PCA up to rounding."


def test_the_summary_suggests_another_number_of_components():
    rows = np.random.default_rng(0).normal(size=(3000, 3))  # three directions are equivalent
    found = ReducedSetKernelPCA(2, ell=3.0).fit(rows).certificate_
    better = found.better_components
    assert found.summary.endswith(
        "Components 2 and 3 have nearly equal eigenvalues, so the choice between them is "
        f"arbitrary; n_components={better} avoids this."
    )
    avoided = ReducedSetKernelPCA(better, ell=3.0).fit(rows).certificate_
    assert "arbitrary" not in avoided.summary
    assert avoided.embedding.limit < found.embedding.limit / 3


# ------------------------------------------------------------------------ without an estimate


def summary_without_sample(**options) -> str:
    density = ShadowDensity(sample_size=0, ell=options.pop("ell", 4.0))
    return ReducedSetKernelPCA(density=density, **options).fit(X[:500]).certificate_.summary


def test_without_a_row_sample_the_summary_states_what_is_guaranteed():
    model = ReducedSetKernelPCA(2, density=ShadowDensity(sample_size=0, ell=8.0)).fit(X[:500])
    found = model.certificate_
    errors = np.abs(found.certain - found.eigenvalues[:, None]).max(axis=1) / found.eigenvalues
    first, last = (f"{100 * error:.3g}%" for error in errors)
    assert 0.1 < errors[0] < errors[1] < 1
    assert found.summary == (
        "The error of the coordinates is not estimated, because no row sample was kept; "
        "use the default, ShadowDensity(sample_size=2000). The first eigenvalue is within "
        f"{first} of that of exact kernel PCA, and the last within {last} (guaranteed)."
    )


def test_guarantees_that_are_too_wide_are_not_stated():
    assert "too wide to be useful" in summary_without_sample(n_components=2, ell=1.5)
    assert "the last is unknown (guaranteed)" in summary_without_sample(n_components=8)
    assert summary_without_sample(n_components=1).endswith("exact kernel PCA (guaranteed).")
    exact = summary_without_sample(n_components=2, ell=np.inf)
    assert exact.endswith("But the model equals exact kernel PCA up to rounding (guaranteed).")


def test_a_reduced_set_without_any_statistics_has_a_summary():
    kernel, points = Gaussian(4.0), ReducedSet(X[:50], np.full(50, 6.0))
    found = certify(kernel, points, solve(Plain(), kernel, points, 3))
    assert found.embedding is None
    assert found.summary.endswith("The bounds on the eigenvalues are too wide to be useful.")


def test_more_than_100_components_are_not_analyzed():
    found = ReducedSetKernelPCA(101, bandwidth=1.0).fit(X).certificate_
    assert found.embedding is None
    assert found.summary.startswith(
        "The error of the coordinates is not estimated for more than 100 components. The first "
        "eigenvalue is within "
    )
    assert "with 95% confidence" in found.summary
    # The sample still bounds the eigenvalues, by the error of the operator.
    error = found.level("sample").operator * found.n_samples
    np.testing.assert_allclose(found.likely[:, 1] - found.eigenvalues, error, rtol=1e-6)
    assert np.all(np.ptp(found.likely, axis=1) < np.ptp(found.certain, axis=1))
