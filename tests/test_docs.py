"""Test that the Python code in README.md and docs runs and prints the documented output.

A comment ``<!-- needs: pyspark java -->`` above a code block lists required modules and programs.
If one is missing, the block is skipped, and the test is reported as skipped after the remaining
blocks have run. A text block after the words "This prints:" is the complete output of the code
block above it.
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
    r"(?:\nThis prints:\n\n```text\n(.*?)^```\n)?",
    flags=re.MULTILINE | re.DOTALL,
)


class Block(NamedTuple):
    """A code block with its requirements and, if the page shows it, its output."""

    code: str
    needs: list[str]
    printed: str | None


def blocks(path: Path) -> list[Block]:
    """Return the Python blocks, padded with newlines so that tracebacks show the right line."""
    text = path.read_text(encoding="utf-8")
    return [
        Block("\n" * text.count("\n", 0, match.start(2)) + code, (needs or "").split(), printed)
        for match in _BLOCK.finditer(text)
        for needs, code, printed in [match.groups()]
    ]


def missing(needs: list[str]) -> list[str]:
    """Return the modules and programs that are not installed."""
    return [name for name in needs if find_spec(name) is None and shutil.which(name) is None]


def test_the_readme_contains_code():
    assert blocks(ROOT / "README.md")


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_code_blocks_run_and_print_the_documented_output(path, tmp_path, monkeypatch, capsys):
    if "matplotlib" not in sys.modules:
        monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "__main__"}
    skipped: list[str] = []
    for code, needs, documented in blocks(path):
        if missing(needs):
            skipped += missing(needs)
            continue
        exec(compile(code, str(path), "exec"), namespace)
        printed = capsys.readouterr().out
        assert set(_PRINTED.findall(code)) <= set(printed.splitlines())
        assert documented is None or documented.split() == printed.split()
    if skipped:
        pytest.skip(f"some code blocks in {path.name} require {', '.join(skipped)}")
