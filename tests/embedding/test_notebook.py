"""Fitted models in notebooks."""

import numpy as np
import pytest
import sklearn
from sklearn.base import clone

from rskpca import (
    DiffusionMaps,
    KernelPCANovelty,
    NystromKernelPCA,
    ReducedSetKernelPCA,
    ShadowDensity,
)
from rskpca.embedding._notebook import tables
from rskpca.kernels import RadialKernel
from tests.datasets import blobs

X = blobs(300, 2)


def shown(model) -> str:
    html = model._repr_html_()
    assert model._repr_mimebundle_()["text/html"].count("<table>") == html.count("<table>")
    return html


def test_before_the_fit_there_is_the_diagram_alone():
    html = shown(ReducedSetKernelPCA(2))
    assert "sk-container" in html
    assert "for 300 rows" not in html


def test_after_it_the_reduced_set_and_the_certificate():
    model = ReducedSetKernelPCA(2).fit(X)
    html = shown(model)
    assert f"{model.n_centers_:,} for 300 rows" in html
    assert "(ell 4)" in html
    assert model.certificate_._repr_html_() in html


@pytest.mark.parametrize(
    "model", [DiffusionMaps(2), NystromKernelPCA(2, n_centers=20), KernelPCANovelty()], ids=repr
)
def test_every_kind_says_what_it_has(model):
    html = shown(clone(model).fit(X))
    assert ("landmarks" in html) == isinstance(model, NystromKernelPCA)
    assert ("Certificate" in html) == isinstance(model, KernelPCANovelty)


def test_of_a_stream_too():
    assert "for 300 rows" in shown(ReducedSetKernelPCA(2).partial_fit(X))


def test_every_row_as_a_center_has_no_ell():
    html = tables(DiffusionMaps(2, ell=np.inf).fit(X))
    assert "radius" in html
    assert "ell" not in html


def test_text_where_text_is_wanted():
    model = ReducedSetKernelPCA(2).fit(X)
    with sklearn.config_context(display="text"):
        assert "text/html" not in model._repr_mimebundle_()
        assert not hasattr(model, "_repr_html_")


class Named(RadialKernel):
    """A kernel whose name is no HTML."""

    def __repr__(self) -> str:
        return "<script>alert(1)</script>"


def test_words_are_escaped():
    kernel = Named(lambda s: np.exp(-s), 2, 3.0, monotone=True)
    model = DiffusionMaps(2, density=ShadowDensity(kernel)).fit(X)
    assert "&lt;script&gt;" in tables(model)
    assert "<script>" not in tables(model)
