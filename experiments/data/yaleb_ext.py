"""Extended Yale Face Database B, cropped; K.-C. Lee, J. Ho, D. Kriegman 2005; for research."""

from io import BytesIO

import numpy as np

from .dataset import Dataset
from .sources import Files, Table


def parse(matlab: bytes) -> Table:
    """``fea`` has an image a row, ``gnd`` its subject."""
    from scipy.io import loadmat

    found = loadmat(BytesIO(matlab), variable_names=["fea", "gnd"])
    return found["fea"], found["gnd"].ravel().astype(np.int64)


FEW = {11: 60, 12: 59, 13: 60, 14: 63, 15: 62, 16: 63, 17: 63}

DATASET = Dataset(
    name="yaleb_ext",
    title="Extended Yale Face Database B, cropped, 32 x 32 pixels",
    page="http://www.cad.zju.edu.cn/home/dengcai/Data/FaceData.html",
    shape=(2_414, 1_024),
    classes=dict.fromkeys(range(1, 39), 64) | FEW,
    dtype="uint8",
    file_sha256="4fe71a9e0532c1d0856a21d470af4c095356524fe291405fe7697df4dba01ea4",
    content_sha256="81f14c52f244ee38e0c3587affe9509e56de14ef8955ed6ac179fde35cee4ebb",
    sources=(Files(("http://www.cad.zju.edu.cn/home/dengcai/Data/Yale/YaleB_32x32.mat",), parse),),
)
