"""Test that rows have the same values and dtype however they are passed."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from rskpca import KernelPCANovelty, ReducedSetKernelPCA, scaling
from rskpca._validation import number_within
from rskpca.data import open_source
from tests import datasets

X = datasets.blobs(300, 3, dtype=np.float32).round(1)
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])
FORMS = {
    "big-endian": X.astype(">f4"),
    "big-endian float64": X.astype(">f8"),
    "pandas": FRAME,
    "pandas, big-endian": FRAME.astype(">f4"),
    "pandas, nullable": FRAME.astype("Float32"),
    "pandas, pyarrow": FRAME.astype("float[pyarrow]"),
    "pandas, partly nullable": FRAME.astype({"a": "Float32"}),
    "pandas, with small integers": FRAME.round().astype({"a": "Int16"}),
    "pandas, with large integers": FRAME.round().astype({"a": "Int64"}),
    "polars": pl.from_pandas(FRAME),
    "polars, lazy": pl.from_pandas(FRAME).lazy(),
    "polars, float64": pl.from_pandas(FRAME.astype(float)),
    "masked array": np.ma.masked_array(X),
}
FLOAT64 = {"big-endian float64", "pandas, with large integers", "polars, float64"}


@pytest.mark.parametrize("form", FORMS)
def test_fitting_in_memory_and_from_a_source_uses_the_same_dtype(form):
    data, estimator = FORMS[form], ReducedSetKernelPCA(2, bandwidth=4.0)
    model, streamed = estimator.fit(data), scaling.fit(estimator, open_source(data))
    dtype = np.float64 if form in FLOAT64 else np.float32
    assert model.reduced_set_.centers.dtype == dtype
    assert model.reduced_set_ == streamed.reduced_set_
    assert model.transform(data).dtype == dtype
    assert model.partial_fit(data).reduced_set_.centers.dtype == dtype


def test_a_detector_is_updated_with_the_dtype_of_the_rows():
    detector = KernelPCANovelty(ReducedSetKernelPCA(2, bandwidth=4.0)).fit(X)
    detector.partial_fit(X.astype(">f4"))
    assert detector.embedding_.reduced_set_.centers.dtype == np.float32


def test_masked_values_are_never_used_as_numbers():
    masked = np.ma.masked_array(X, mask=X > 3)
    with pytest.raises(ValueError, match=r"X has \d+ masked values\. Fill them in"):
        ReducedSetKernelPCA(2, bandwidth=4.0).fit(masked)
    with pytest.raises(ValueError, match=r"column \d, of the array is NaN"):
        list(open_source(masked).blocks())
    source = open_source(masked, skip_missing=True)
    (block,) = source.blocks()
    np.testing.assert_array_equal(block.rows, X[(X <= 3).all(axis=1)])
    assert block.rows.dtype == np.float32
    counts = np.ma.masked_array([[1, 2], [3, 4]], mask=[[0, 1], [0, 0]])
    assert open_source(counts, skip_missing=True).counted() == 1
    weights = np.ma.masked_array(np.ones(len(X)), mask=(X > 3).any(axis=1))
    expected = (
        rf"sample_weight has {weights.mask.sum()} masked values.*sample_weight\.filled\(0\.0\)"
    )
    for method in ("fit", "partial_fit"):
        with pytest.raises(ValueError, match=expected):
            getattr(ReducedSetKernelPCA(2, bandwidth=4.0), method)(X, None, weights)
    ReducedSetKernelPCA(2, bandwidth=4.0).fit(X, None, np.ma.masked_array(np.ones(len(X))))


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0, 1, "a number from 0 to 1"),
        (0, np.inf, "a number of at least 0"),
        (-np.inf, 1, "a number of at most 1"),
        (-np.inf, np.inf, "a finite number"),
    ],
)
def test_messages_about_numbers_leave_out_infinite_limits(low, high, expected):
    with pytest.raises(ValueError, match=rf"^x must be {expected}, got nan\.$"):
        number_within("x", np.nan, low, high)
