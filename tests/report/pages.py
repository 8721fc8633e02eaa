"""Read report pages in the same way as their scripts do."""

import base64
import gzip
import json
from html.parser import HTMLParser

import numpy as np


class Page(HTMLParser):
    """The elements of an HTML page, its text, and the text of its scripts."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.scripts: list[str] = []
        self.inside = ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.inside = tag

    def handle_endtag(self, tag):
        self.inside = ""

    def handle_data(self, data):
        if self.inside not in ("script", "style"):
            self.texts.append(data)
        elif self.inside == "script":
            self.scripts.append(data)

    @property
    def figures(self):
        return json.loads(gzip.decompress(base64.b64decode(self.scripts[0])))

    @property
    def embedding(self):
        return self.figures["embedding"]

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())

    def names(self, *kinds: str) -> list[str]:
        return [c["name"] for c in self.embedding["columns"] if not kinds or c["kind"] in kinds]

    def column(self, name: str):
        """Return the values of a column as the page decodes them."""
        return decode(next(c for c in self.embedding["columns"] if c["name"] == name))

    def coordinates(self):
        """Return the components of the rows and of the centers."""
        found = [c for c in self.embedding["columns"] if c["kind"] == "component"]
        centers = self.embedding["centers"]["columns"]
        rows = np.stack([decode(c) for c in found], axis=1)
        return rows, np.stack([values(centers[str(k)]) for k in range(len(found))], axis=1)

    def first_color(self) -> str:
        return self.embedding["columns"][self.embedding["color"]]["name"]


def values(array):
    """Return an array that plotly has encoded as a list or in base64."""
    if isinstance(array, list):
        return np.array(array)
    return np.frombuffer(base64.b64decode(array["bdata"]), array["dtype"])


def decode(column):
    stored = values(column["values"])
    return stored if column["levels"] is None else np.array(column["levels"])[stored]
