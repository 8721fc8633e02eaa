"""The code in README and docs runs as it is printed.

A comment ``<!-- needs: pyspark java -->`` above a block names modules and programs without which
the block is skipped, and the test with it once the others of the file have run.
"""

import re
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]
_PRINTED = re.compile(r"^ *print\(.*\)  # (.+)$", flags=re.MULTILINE)
_BLOCK = re.compile(
    r"^(?:<!-- needs: ([^\n]*) -->\n)?```python[^\n]*\n(.*?)^```", flags=re.MULTILINE | re.DOTALL
)


def blocks(path: Path) -> list[tuple[str, list[str]]]:
    """The python blocks, and what each needs.

    A block is moved to its line, so that a traceback names the file's line.
    """
    text = path.read_text(encoding="utf-8")
    return [
        (
            "\n" * text.count("\n", 0, match.start(2)) + match.group(2),
            (match.group(1) or "").split(),
        )
        for match in _BLOCK.finditer(text)
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
    for block, needs in blocks(path):
        if missing(needs):
            skipped += missing(needs)
            continue
        exec(compile(block, str(path), "exec"), namespace)
        printed = capsys.readouterr().out.splitlines()
        assert set(_PRINTED.findall(block)) <= set(printed)
    if skipped:
        pytest.skip(f"blocks of {path.name} need {', '.join(skipped)}")
