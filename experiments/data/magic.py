"""MAGIC Gamma Telescope; R. Bock 2004, CC BY 4.0. Publishers differ in the order of rows."""

from .dataset import Dataset
from .sources import Files, OpenML, Table
from .tables import label_last

UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases/magic"
CLASSES = {"g": 0, "h": 1}


def parse(text: bytes) -> Table:
    """Numbers and a letter: g for gamma, h for hadron."""
    for letter, number in CLASSES.items():
        text = text.replace(letter.encode(), str(number).encode())
    return label_last(text, delimiter=",")


DATASET = Dataset(
    name="magic",
    title="MAGIC Gamma Telescope",
    page="https://doi.org/10.24432/C52C8B",
    shape=(19_020, 10),
    classes={0: 12_332, 1: 6_688},
    dtype="float32",
    file_sha256="df016ce2735bdc1c1c3f8f582d00706f6406dbbe699a4edce1694d204cde9991",
    content_sha256="e13e4fed39c969fafbd1c4585f1f37f11c6eaf7c26bc1c6db42f8ebfbda00c72",
    sources=(OpenML(1120, CLASSES), Files((f"{UCI}/magic04.data",), parse)),
    decimals=4,
    any_order=True,
)
