"""Build hook: make the relative links of README.md absolute, for the project page on PyPI."""

from __future__ import annotations

import re
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface

_RELATIVE = re.compile(r"(?P<image>!?)\[(?P<text>[^\]]*)\]\((?P<path>(?!https?:|#)[^)]+)\)")


def absolute_links(text: str, repository: str, version: str) -> str:
    """Point the relative links and images in a Markdown text to the files of a release."""

    def replace(link: re.Match[str]) -> str:
        kind = "raw" if link["image"] else "blob"
        return f"{link['image']}[{link['text']}]({repository}/{kind}/v{version}/{link['path']})"

    return _RELATIVE.sub(replace, text)


class ReadmeHook(MetadataHookInterface):
    """Set the ``readme`` field of the metadata."""

    def update(self, metadata: dict) -> None:
        """Read README.md and replace its links."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        text = absolute_links(text, metadata["urls"]["Homepage"], metadata["version"])
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
