"""Catalog of the ten data sets, with their sources, class counts and checksums."""

from __future__ import annotations

from functools import partial
from typing import Any

from numpy.typing import NDArray

from .dataset import Dataset, Labels, Published
from .formats import (
    MAGIC_CLASSES,
    parse_label_first,
    parse_label_last,
    parse_magic,
    parse_matlab,
    parse_mnist,
    parse_yale,
)
from .sources import Files, OpenML

UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
BOOK = "https://hastie.su.domains/ElemStatLearn"  # Hastie, Tibshirani and Friedman
MNIST_MIRROR = "https://ossci-datasets.s3.amazonaws.com/mnist"
MNIST_FILES = (
    "train-images-idx3-ubyte.gz",
    "train-labels-idx1-ubyte.gz",
    "t10k-images-idx3-ubyte.gz",
    "t10k-labels-idx1-ubyte.gz",
)
CRAN = "https://cran.r-project.org/src/contrib"
FACES = "http://www.cad.zju.edu.cn/home/dengcai/Data"
parse_csv = partial(parse_label_last, delimiter=",")


def _test_part(data: Published) -> tuple[NDArray[Any], Labels]:
    """Return the rows that the paper most likely used."""
    return data.X[data.is_test], data.y[data.is_test]


def _scale_to_unit_interval(data: Published) -> tuple[NDArray[Any], Labels]:
    """Map pixels from [-1, 1] to [0, 1]."""
    return (data.X + 1) / 2, data.y


def _scale_faces(data: Published) -> tuple[NDArray[Any], Labels]:
    """Map pixels roughly to [0, 1]: one published unit is about 60 of 255 gray levels."""
    return data.X * (60 / 255), data.y


# H. Hofmann 1994, CC BY 4.0.
GERMAN = Dataset(
    name="german",
    title="Statlog (German Credit Data), numeric",
    page="https://doi.org/10.24432/C5NC77",
    shape=(1_000, 24),
    classes={1: 700, 2: 300},
    dtype="uint8",
    file_sha256="eb849d363c40fa1b84740dcdbf43514447686b49c695a6176631bc05cd3179a6",
    content_sha256="ad4a1bcc1457386f15033682f32223d206ae48bd5a3f1ace88829ccd14ca5dc8",
    sources=(Files((f"{UCI}/statlog/german/german.data-numeric",), parse_label_last),),
)

# E. Alpaydin, F. Alimoglu 1996, CC BY 4.0.
PENDIGITS = Dataset(
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
        Files((f"{UCI}/pendigits/pendigits.tra", f"{UCI}/pendigits/pendigits.tes"), parse_csv),
    ),
    n_train=7_494,
    prepare=_test_part,
    note="the published test part, 3,498 rows; the paper has 3,500",
)

# Y. Le Cun et al. 1990, J. Hull 1994. The copy on OpenML was rescaled and rounded differently.
USPS = Dataset(
    name="usps",
    title="US Postal Service zip code digits",
    page=f"{BOOK}/data.html",
    shape=(9_298, 256),
    classes=dict(enumerate([1_553, 1_269, 929, 824, 852, 716, 834, 792, 708, 821])),
    dtype="float32",
    file_sha256="8f11a12a087086a62d5db75f3ad9e31e3756a96ff40f5740eaf0a92e938bc7c2",
    content_sha256="1c76b3bf93f103c04091ec2afa89d76e9a34dd4047519ec3eeff7ec2ef205268",
    sources=(
        Files((f"{BOOK}/datasets/zip.train.gz", f"{BOOK}/datasets/zip.test.gz"), parse_label_first),
    ),
    decimals=3,
    n_train=7_291,
    prepare=_scale_to_unit_interval,
    note="pixels scaled to [0, 1]; the paper does not say how they are scaled",
)

# A. Georghiades, P. Belhumeur, D. Kriegman 2001; for research use. The R package PPCI contains the
# first 200 images of each subject.
YALE = Dataset(
    name="yale",
    title="Yale Face Database B, 200 images of each subject, 30 x 20 pixels",
    page="https://cran.r-project.org/package=PPCI",
    shape=(2_000, 600),
    classes=dict.fromkeys(range(1, 11), 200),
    dtype="float32",
    file_sha256="6ad4b65453757837a1b3721e6c8692297385df973469bc5658164338bce7beaf",
    content_sha256="c55615fe83fca9c04c38f369676201578fb30c0805d99ca4655672aaba94bbf3",
    sources=(
        Files((f"{CRAN}/PPCI_0.1.5.tar.gz",), parse_yale),
        Files((f"{CRAN}/Archive/PPCI/PPCI_0.1.5.tar.gz",), parse_yale),
    ),
    decimals=2,
    prepare=_scale_faces,
    note="2,000 images of 30 x 20 pixels, times 60 / 255; the paper has 5,768 of 520 pixels",
)

# Y. LeCun, C. Cortes, C. Burges; CC BY-SA 3.0.
MNIST = Dataset(
    name="mnist",
    title="MNIST handwritten digits",
    page="https://www.openml.org/d/554",
    shape=(70_000, 784),
    classes=dict(enumerate([6_903, 7_877, 6_990, 7_141, 6_824, 6_313, 6_876, 7_293, 6_825, 6_958])),
    dtype="uint8",
    file_sha256="09d997838dc2c24d840ba880e801a851b5b1610b6df20d81fe4ff70f1aadf356",
    content_sha256="af419e9725d01fcc35a08978f3ae44f20bb571d58a9648a443ae9b3fcee41292",
    sources=(
        OpenML(554),
        Files(tuple(f"{MNIST_MIRROR}/{name}" for name in MNIST_FILES), parse_mnist),
    ),
    n_train=60_000,
)

# J. Blackard 1998, CC BY 4.0.
COVTYPE = Dataset(
    name="covtype",
    title="Covertype",
    page="https://doi.org/10.24432/C50K5N",
    shape=(581_012, 54),
    classes={1: 211_840, 2: 283_301, 3: 35_754, 4: 2_747, 5: 9_493, 6: 17_367, 7: 20_510},
    dtype="int16",
    file_sha256="3990f0848529654c773c9f37983e04910fdffcdc948af9bd0ef0cc0a6022d510",
    content_sha256="65ab82b64fa58b244c9d5466da03901dc8d9791ff6b756ebd0587c3f4d5c76d2",
    sources=(OpenML(1596), Files((f"{UCI}/covtype/covtype.data.gz",), parse_csv)),
)

# Blue, green and red; R. Bhatt, A. Dhall 2012, CC BY 4.0.
SKIN = Dataset(
    name="skin",
    title="Skin Segmentation",
    page="https://doi.org/10.24432/C5T30C",
    shape=(245_057, 3),
    classes={1: 50_859, 2: 194_198},
    dtype="uint8",
    file_sha256="501e76684a751b604af1a251ae0e333684c51d4922a535b2ce30dba1e39b878d",
    content_sha256="62a124fe54fb3f6fde357d1afcfd90eacaf6288f4d092f6006e5feb3109f6693",
    sources=(OpenML(1502), Files((f"{UCI}/00229/Skin_NonSkin.txt",), parse_label_last)),
)

# E. Alpaydin, C. Kaynak 1998, CC BY 4.0.
OPTDIGITS = Dataset(
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
        Files((f"{UCI}/optdigits/optdigits.tra", f"{UCI}/optdigits/optdigits.tes"), parse_csv),
    ),
    n_train=3_823,
)

# R. Bock 2004, CC BY 4.0. The order of the rows differs between publishers.
MAGIC = Dataset(
    name="magic",
    title="MAGIC Gamma Telescope",
    page="https://doi.org/10.24432/C52C8B",
    shape=(19_020, 10),
    classes={0: 12_332, 1: 6_688},
    dtype="float32",
    file_sha256="df016ce2735bdc1c1c3f8f582d00706f6406dbbe699a4edce1694d204cde9991",
    content_sha256="e13e4fed39c969fafbd1c4585f1f37f11c6eaf7c26bc1c6db42f8ebfbda00c72",
    sources=(OpenML(1120, MAGIC_CLASSES), Files((f"{UCI}/magic/magic04.data",), parse_magic)),
    decimals=4,
    any_order=True,
)

# K.-C. Lee, J. Ho, D. Kriegman 2005; for research use.
FEWER_IMAGES = {11: 60, 12: 59, 13: 60, 14: 63, 15: 62, 16: 63, 17: 63}
YALEB_EXT = Dataset(
    name="yaleb_ext",
    title="Extended Yale Face Database B, cropped, 32 x 32 pixels",
    page=f"{FACES}/FaceData.html",
    shape=(2_414, 1_024),
    classes=dict.fromkeys(range(1, 39), 64) | FEWER_IMAGES,
    dtype="uint8",
    file_sha256="4fe71a9e0532c1d0856a21d470af4c095356524fe291405fe7697df4dba01ea4",
    content_sha256="81f14c52f244ee38e0c3587affe9509e56de14ef8955ed6ac179fde35cee4ebb",
    sources=(Files((f"{FACES}/Yale/YaleB_32x32.mat",), parse_matlab),),
)

DATASETS = {
    dataset.name: dataset
    for dataset in (
        GERMAN, PENDIGITS, USPS, YALE, MNIST, COVTYPE, SKIN, OPTDIGITS, MAGIC, YALEB_EXT,
    )
}  # fmt: skip
