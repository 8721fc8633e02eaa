"""The code in README and docs runs as it is printed."""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]
_PRINTED = re.compile(r"^ *print\(.*\)  # (.+)$", flags=re.MULTILINE)
_BLOCK = re.compile(r"^```python[^\n]*\n(.*?)^```", flags=re.MULTILINE | re.DOTALL)


def blocks(path: Path) -> list[str]:
    """The python blocks, each moved to its line, so that a traceback names the file's line."""
    text = path.read_text(encoding="utf-8")
    return [
        "\n" * (text.count("\n", 0, match.start(1))) + match.group(1)
        for match in _BLOCK.finditer(text)
    ]


def test_the_readme_has_code():
    assert blocks(ROOT / "README.md")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_blocks_of_a_file_run_and_print_what_they_say(path, tmp_path, monkeypatch, capsys):
    if "matplotlib" not in sys.modules:
        monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "__main__"}
    for block in blocks(path):
        exec(compile(block, str(path), "exec"), namespace)
        printed = capsys.readouterr().out.splitlines()
        assert set(_PRINTED.findall(block)) <= set(printed)
