"""Covertype; J. Blackard 1998, CC BY 4.0."""

from functools import partial

from .dataset import Dataset
from .sources import Files, OpenML
from .tables import label_last

UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases/covtype"

DATASET = Dataset(
    name="covtype",
    title="Covertype",
    page="https://doi.org/10.24432/C50K5N",
    shape=(581_012, 54),
    classes={1: 211_840, 2: 283_301, 3: 35_754, 4: 2_747, 5: 9_493, 6: 17_367, 7: 20_510},
    dtype="int16",
    file_sha256="3990f0848529654c773c9f37983e04910fdffcdc948af9bd0ef0cc0a6022d510",
    content_sha256="65ab82b64fa58b244c9d5466da03901dc8d9791ff6b756ebd0587c3f4d5c76d2",
    sources=(
        OpenML(1596),
        Files((f"{UCI}/covtype.data.gz",), partial(label_last, delimiter=",")),
    ),
)
