"""Skin Segmentation, blue, green and red; R. Bhatt, A. Dhall 2012, CC BY 4.0."""

from .dataset import Dataset
from .sources import Files, OpenML
from .tables import label_last

UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases/00229"

DATASET = Dataset(
    name="skin",
    title="Skin Segmentation",
    page="https://doi.org/10.24432/C5T30C",
    shape=(245_057, 3),
    classes={1: 50_859, 2: 194_198},
    dtype="uint8",
    file_sha256="501e76684a751b604af1a251ae0e333684c51d4922a535b2ce30dba1e39b878d",
    content_sha256="62a124fe54fb3f6fde357d1afcfd90eacaf6288f4d092f6006e5feb3109f6693",
    sources=(OpenML(1502), Files((f"{UCI}/Skin_NonSkin.txt",), label_last)),
)
