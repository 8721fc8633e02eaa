"""The code in README and docs runs as it is printed.

A comment ``<!-- needs: pyspark java -->`` above a block names modules and programs without which
the block is skipped, and the test with it once the others of the file have run. What stands in a
block below the words "It prints" is all that the block above prints.
"""

import re
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
FILES = [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]
_PRINTED = re.compile(r"^ *print\(.*\)  # (.+)$", flags=re.MULTILINE)
_BLOCK = re.compile(
    r"^(?:<!-- needs: ([^\n]*) -->\n)?```python[^\n]*\n(.*?)^```\n"
    r"(?:\nIt prints\n\n```text\n(.*?)^```\n)?",
    flags=re.MULTILINE | re.DOTALL,
)


class Block(NamedTuple):
    """Code, what it needs, and what it prints if the page says so."""

    code: str
    needs: list[str]
    printed: str | None


def blocks(path: Path) -> list[Block]:
    """The python blocks, each moved to its line, so that a traceback names the file's line."""
    text = path.read_text(encoding="utf-8")
    return [
        Block("\n" * text.count("\n", 0, match.start(2)) + code, (needs or "").split(), printed)
        for match in _BLOCK.finditer(text)
        for needs, code, printed in [match.groups()]
    ]


def missing(needs: list[str]) -> list[str]:
    return [name for name in needs if find_spec(name) is None and shutil.which(name) is None]


def test_the_readme_has_code():
    assert blocks(ROOT / "README.md")


# Spark says so of itself.
@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_blocks_of_a_file_run_and_print_what_they_say(path, tmp_path, monkeypatch, capsys):
    if "matplotlib" not in sys.modules:
        monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "__main__"}
    skipped: list[str] = []
    for block, needs, said in blocks(path):
        if missing(needs):
            skipped += missing(needs)
            continue
        exec(compile(block, str(path), "exec"), namespace)
        printed = capsys.readouterr().out
        assert set(_PRINTED.findall(block)) <= set(printed.splitlines())
        assert said is None or said.split() == printed.split()
    if skipped:
        pytest.skip(f"blocks of {path.name} need {', '.join(skipped)}")
