"""Test that the commands in docs/command_line.md run in sequence."""

import re
import shlex
from pathlib import Path

from .cases import run, write_holes

PAGE = Path(__file__).parents[2] / "docs" / "command_line.md"
BLOCKS = re.findall(r"^```bash\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)


def test_the_page_contains_commands():
    assert len(BLOCKS) == 5


def test_the_documented_commands_run(folder, short_comparison):
    write_holes()
    for line in "".join(BLOCKS).splitlines():
        program, *words = shlex.split(line, comments=True)
        assert program == "rskpca"
        result = run(*words)
        assert result.exit_code == 0, f"{line}\n{result.output}"
