"""Optical Recognition of Handwritten Digits; E. Alpaydin, C. Kaynak 1998, CC BY 4.0."""

from functools import partial

from .dataset import Dataset
from .sources import Files, OpenML
from .tables import label_last

UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases/optdigits"

DATASET = Dataset(
    name="optdigits",
    title="Optical Recognition of Handwritten Digits",
    page="https://doi.org/10.24432/C50P49",
    shape=(5_620, 64),
    classes=dict(enumerate([554, 571, 557, 572, 568, 558, 558, 566, 554, 562])),
    dtype="uint8",
    file_sha256="8bf6f27d904fffd96d9d5cc09928b31f4b539d1066fb304aa55be7ea910ce798",
    content_sha256="f6bdb5ccdf4cac08f0e9590d3537682724bab3c0c1809c18b96a19a9796b0ae1",
    sources=(
        OpenML(28),
        Files((f"{UCI}/optdigits.tra", f"{UCI}/optdigits.tes"), partial(label_last, delimiter=",")),
    ),
    n_train=3_823,
)
