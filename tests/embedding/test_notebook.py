"""Test the HTML representation of fitted models in notebooks."""

import re

import numpy as np
import pytest
import sklearn
from sklearn.base import clone

from rskpca import DiffusionMaps, KernelPCANovelty, NystromKernelPCA, ReducedSetKernelPCA
from rskpca.embedding._notebook import fitted_html
from rskpca.kernels import RadialKernel
from tests.datasets import blobs

X = blobs(300, 2)


def html_of(model) -> str:
    html = model._repr_html_()
    assert model._repr_mimebundle_()["text/html"].count("<table>") == html.count("<table>")
    return html


def test_an_unfitted_model_shows_only_the_diagram():
    html = html_of(ReducedSetKernelPCA(2))
    assert "sk-container" in html
    assert "for 300 rows" not in html


def test_a_fitted_model_shows_its_reduced_set_and_its_certificate():
    model = ReducedSetKernelPCA(2).fit(X)
    html = html_of(model)
    assert f"{model.n_centers_:,} for 300 rows" in html
    assert "(ell 4)" in html
    assert model.certificate_._repr_html_() in html
    assert model.certificate_.summary in html


def test_a_fitted_model_starts_with_the_summary_and_a_small_embedding():
    model = ReducedSetKernelPCA(2).fit(X)
    html = fitted_html(model.model_)
    assert html.startswith(f"<p><b>{model.certificate_.summary}</b></p>")
    places = np.array(re.findall(r"M(\d+) (\d+)h0", html), dtype=float)
    Z = model.transform(model.reduced_set_.sample.rows)
    assert len(places) == len(Z) == 300
    for k, sign in enumerate((1, -1)):
        assert np.corrcoef(places[:, k], Z[:, k])[0, 1] * sign > 0.999
    assert len(html) < 30_000


def test_one_component_is_drawn_as_a_line():
    html = fitted_html(ReducedSetKernelPCA(1).fit(X).model_)
    assert len(set(re.findall(r"M(\d+) (\d+)h0", html))) > 10


@pytest.mark.parametrize(
    "model", [DiffusionMaps(2), NystromKernelPCA(2, n_centers=20), KernelPCANovelty()], ids=repr
)
def test_every_kind_of_model_shows_its_available_properties(model):
    html = html_of(clone(model).fit(X))
    assert ("landmarks" in html) == isinstance(model, NystromKernelPCA)
    assert "Certificate" in html


def test_a_model_fitted_in_parts_shows_all_rows():
    assert "for 300 rows" in html_of(ReducedSetKernelPCA(2).partial_fit(X))


def test_an_exact_model_shows_no_ell():
    html = fitted_html(DiffusionMaps(2, ell=np.inf).fit(X).model_)
    assert "radius" in html
    assert "ell" not in html


def test_scikit_learn_can_switch_the_display_to_text():
    model = ReducedSetKernelPCA(2).fit(X)
    with sklearn.config_context(display="text"):
        assert "text/html" not in model._repr_mimebundle_()
        assert not hasattr(model, "_repr_html_")


class Named(RadialKernel):
    """Kernel whose name contains HTML."""

    def __repr__(self) -> str:
        return "<script>alert(1)</script>"


def test_names_are_escaped():
    kernel = Named(lambda s: np.exp(-s), 2, 3.0, monotone=True)
    html = fitted_html(DiffusionMaps(2, kernel=kernel).fit(X).model_)
    assert "&lt;script&gt;" in html
    assert "<script>" not in html
