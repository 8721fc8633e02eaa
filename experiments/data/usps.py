"""Digits of US zip codes; Y. Le Cun et al. 1990, J. Hull 1994.

From the companion site of Hastie, Tibshirani and Friedman. The copy at OpenML was rescaled and
has other decimals.
"""

from .dataset import Dataset, Published, Used
from .sources import Files
from .tables import label_first

BOOK = "https://hastie.su.domains/ElemStatLearn/datasets"


def in_unit_interval(data: Published) -> Used:
    """Pixels in [0, 1] in place of [-1, 1]."""
    return Used((data.X + 1) / 2, data.y)


DATASET = Dataset(
    name="usps",
    title="US Postal Service zip code digits",
    page="https://hastie.su.domains/ElemStatLearn/data.html",
    shape=(9_298, 256),
    classes=dict(enumerate([1_553, 1_269, 929, 824, 852, 716, 834, 792, 708, 821])),
    dtype="float32",
    file_sha256="8f11a12a087086a62d5db75f3ad9e31e3756a96ff40f5740eaf0a92e938bc7c2",
    content_sha256="1c76b3bf93f103c04091ec2afa89d76e9a34dd4047519ec3eeff7ec2ef205268",
    sources=(Files((f"{BOOK}/zip.train.gz", f"{BOOK}/zip.test.gz"), label_first),),
    decimals=3,
    n_train=7_291,
    use=in_unit_interval,
    note="pixels scaled to [0, 1]; the paper does not say how they are scaled",
)
