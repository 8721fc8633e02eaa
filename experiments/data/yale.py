"""Yale Face Database B; A. Georghiades, P. Belhumeur, D. Kriegman 2001; for research.

From the R package PPCI, which has the first 200 images of each subject in 30 x 20 pixels.
"""

import tarfile
from io import BytesIO

import numpy as np

from .dataset import Dataset, Published, Used
from .rdata import read_rdata
from .sources import Files, Table


def parse(package: bytes) -> Table:
    """The object ``yale`` of the package: a list of the images and of their labels."""
    with tarfile.open(fileobj=BytesIO(package)) as archive:
        member = archive.extractfile("PPCI/data/yale.RData")
        assert member is not None, "a data set is a file"
        images, labels = read_rdata(member.read())["yale"].values()
    return images, np.asarray(labels).astype(np.int64)


def as_pixels(data: Published) -> Used:
    """About [0, 1]: one published unit is very roughly 60 of 255 grey levels."""
    return Used(data.X * (60 / 255), data.y)


CRAN = "https://cran.r-project.org/src/contrib"
PLACES = (f"{CRAN}/PPCI_0.1.5.tar.gz", f"{CRAN}/Archive/PPCI/PPCI_0.1.5.tar.gz")

DATASET = Dataset(
    name="yale",
    title="Yale Face Database B, 200 images of each subject, 30 x 20 pixels",
    page="https://cran.r-project.org/package=PPCI",
    shape=(2_000, 600),
    classes=dict.fromkeys(range(1, 11), 200),
    dtype="float32",
    file_sha256="6ad4b65453757837a1b3721e6c8692297385df973469bc5658164338bce7beaf",
    content_sha256="c55615fe83fca9c04c38f369676201578fb30c0805d99ca4655672aaba94bbf3",
    sources=tuple(Files((place,), parse) for place in PLACES),
    decimals=2,
    use=as_pixels,
    note="2,000 images of 30 x 20 pixels, times 60 / 255; the paper has 5,768 of 520 pixels",
)
