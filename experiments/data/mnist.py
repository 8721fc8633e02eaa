"""Handwritten digits; Y. LeCun, C. Cortes, C. Burges; CC BY-SA 3.0."""

import numpy as np

from .dataset import Dataset
from .idx import read_idx
from .sources import Files, OpenML, Table

MIRROR = "https://ossci-datasets.s3.amazonaws.com/mnist"
FILES = (
    "train-images-idx3-ubyte.gz",
    "train-labels-idx1-ubyte.gz",
    "t10k-images-idx3-ubyte.gz",
    "t10k-labels-idx1-ubyte.gz",
)


def parse(*parts: bytes) -> Table:
    """Images and labels to train, images and labels to test."""
    images, labels, more_images, more_labels = map(read_idx, parts)
    X = np.concatenate([images, more_images])
    y = np.concatenate([labels, more_labels])
    return X.reshape(len(X), -1), y.astype(np.int64)


DATASET = Dataset(
    name="mnist",
    title="MNIST handwritten digits",
    page="https://www.openml.org/d/554",
    shape=(70_000, 784),
    classes=dict(enumerate([6_903, 7_877, 6_990, 7_141, 6_824, 6_313, 6_876, 7_293, 6_825, 6_958])),
    dtype="uint8",
    file_sha256="09d997838dc2c24d840ba880e801a851b5b1610b6df20d81fe4ff70f1aadf356",
    content_sha256="af419e9725d01fcc35a08978f3ae44f20bb571d58a9648a443ae9b3fcee41292",
    sources=(OpenML(554), Files(tuple(f"{MIRROR}/{name}" for name in FILES), parse)),
    n_train=60_000,
)
