"""The examples run."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.mark.slow
def test_the_pictures_of_the_manifold_guide(tmp_path):
    command = [sys.executable, str(EXAMPLES / "manifold.py"), str(tmp_path), "10000"]
    subprocess.run(command, check=True, capture_output=True)
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"swiss_roll.png", "circle.png", "rings.png"}
