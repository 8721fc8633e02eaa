"""Print the version, which is defined in src/rskpca/__init__.py, without importing the package."""

import re
from pathlib import Path

if __name__ == "__main__":
    text = (Path(__file__).parents[1] / "src" / "rskpca" / "__init__.py").read_text()
    match = re.search(r'^__version__ = "(.+)"$', text, flags=re.MULTILINE)
    assert match
    print(match[1])
