"""Test that objects that cannot be saved are reported before anything is written."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rskpca import (
    Gaussian,
    NystromKernelPCA,
    RadialKernel,
    ReducedSet,
    ReducedSetKernelPCA,
    ShadowDensity,
    save,
)
from rskpca.io import ModelFileError
from rskpca.spectral import Multiplied, solve
from tests.io.cases import data


class UserEstimator(ReducedSetKernelPCA):
    """A user-defined estimator."""


def with_unknown_attribute():
    model = ShadowDensity(Gaussian(4.0)).fit(data()[0])
    model.note_ = "mine"
    return model


def with_invalid_parameter():
    model = ReducedSetKernelPCA(2, bandwidth=4.0).fit(data()[0])
    return model.set_params(n_components=-1)


def with_user_operator():
    points = ReducedSet(data()[0], np.ones(len(data()[0])))
    return solve(Multiplied(lambda X, C: np.ones((len(X), len(C)))), Gaussian(4.0), points, 2)


def deeply_nested():
    nested = []
    for _ in range(100):
        nested = [nested]
    return nested


REFUSED = {
    "seed": (
        lambda: ReducedSetKernelPCA(density=ShadowDensity(random_state=np.random.RandomState(0))),
        r"ReducedSetKernelPCA\.density\.random_state is a RandomState.*integer seed",
    ),
    "generator": (lambda: ShadowDensity(random_state=np.random.default_rng(0)), "random_state"),
    "profile": (
        lambda: ShadowDensity(RadialKernel(lambda s: 1 / (1 + s), power=2)),
        r"ShadowDensity\.kernel is a RadialKernel with a custom function.*Use Gaussian",
    ),
    "fitted profile": (
        lambda: ShadowDensity(RadialKernel(lambda s: 1 / (1 + s), power=2)).fit(data()[0]),
        r"ShadowDensity\.kernel is a RadialKernel",
    ),
    "operator": (with_user_operator, r"EigenSystem\.operator is a .*Multiplied"),
    "function": (lambda: [np.exp], r"list\[0\] is a function"),
    "frame": (
        lambda: NystromKernelPCA(landmarks=pd.DataFrame(data()[0])),
        r"NystromKernelPCA\.landmarks is a .*DataFrame",
    ),
    "subclass": (lambda: UserEstimator(2), r"tests\.io\.test_refused\.UserEstimator"),
    "other estimator": (lambda: PCA(), "PCA, which cannot be saved"),
    "other step": (lambda: make_pipeline(StandardScaler(), PCA()), r"Pipeline\.steps\[1\]\[1\]"),
    "memory": (
        lambda: make_pipeline(StandardScaler(), ShadowDensity(), memory="cache"),
        "memory and transform_input must be None",
    ),
    "unknown attribute": (with_unknown_attribute, "ShadowDensity: unknown attribute note_"),
    "invalid parameter": (
        with_invalid_parameter,
        "n_components must be an integer of at least 1, got -1",
    ),
    "large number": (
        lambda: ShadowDensity(random_state=2**64),
        "random_state=1844674407",
    ),
    "complex": (lambda: [1j], r"list\[0\] is a builtins\.complex"),
    "objects": (lambda: np.array([{}, []], dtype=object), "array of dtype object"),
    "keys": (lambda: {1: 2}, "only string keys"),
    "deep": (deeply_nested, "nested too deeply"),
    "many": (
        lambda: [Gaussian(1.0)] * 10_001,
        r"list\[10000\] exceeds the limit",
    ),
    "long header": (lambda: ["x" * 2**23], "header would have"),
    "sparse centers": (
        lambda: NystromKernelPCA(2, landmarks=9, bandwidth=2.0).fit(csr_array(data()[0])),
        r"NystromKernelPCA\.landmarks_ is a sparse array.*X\.toarray\(\)",
    ),
    "bytes": (lambda: b"abc", "bytes"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_the_error_names_the_unsupported_part_and_nothing_is_written(name, tmp_path):
    make, message = REFUSED[name]
    with pytest.raises(ModelFileError, match=message):
        save(make(), tmp_path / "model")
    assert list(tmp_path.iterdir()) == []
