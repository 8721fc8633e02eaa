"""Statlog (German Credit Data), the numeric version; H. Hofmann 1994, CC BY 4.0."""

from .dataset import Dataset
from .sources import Files
from .tables import label_last

UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases/statlog/german"

DATASET = Dataset(
    name="german",
    title="Statlog (German Credit Data), numeric",
    page="https://doi.org/10.24432/C5NC77",
    shape=(1_000, 24),
    classes={1: 700, 2: 300},
    dtype="uint8",
    file_sha256="eb849d363c40fa1b84740dcdbf43514447686b49c695a6176631bc05cd3179a6",
    content_sha256="ad4a1bcc1457386f15033682f32223d206ae48bd5a3f1ace88829ccd14ca5dc8",
    sources=(Files((f"{UCI}/german.data-numeric",), label_last),),
)
