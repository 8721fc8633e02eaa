"""Pen-Based Recognition of Handwritten Digits; E. Alpaydin, F. Alimoglu 1996, CC BY 4.0."""

from functools import partial

from .dataset import Dataset, Published, Used
from .sources import Files, OpenML
from .tables import label_last

UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases/pendigits"


def test_part(data: Published) -> Used:
    """The rows that the paper most likely took."""
    return Used(data.X[data.is_test], data.y[data.is_test])


DATASET = Dataset(
    name="pendigits",
    title="Pen-Based Recognition of Handwritten Digits",
    page="https://doi.org/10.24432/C5MG6K",
    shape=(10_992, 16),
    classes=dict(enumerate([1_143, 1_143, 1_144, 1_055, 1_144, 1_055, 1_056, 1_142, 1_055, 1_055])),
    dtype="uint8",
    file_sha256="b8dba8a1cab3eb76a415e98ad38a1b8dd4260b8b464b1cda2949c3ffcb614ef4",
    content_sha256="e68e06db9f53dbdd5dcfed762a4ed75e249271be5caf84ed2205577c199952d1",
    sources=(
        OpenML(32),
        Files((f"{UCI}/pendigits.tra", f"{UCI}/pendigits.tes"), partial(label_last, delimiter=",")),
    ),
    n_train=7_494,
    use=test_part,
    note="the published test part, 3,498 rows; the paper has 3,500",
)
