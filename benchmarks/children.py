"""Fresh processes: what they print last is a JSON value."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def in_fresh_process(*arguments: str, environment: Mapping[str, str] | None = None) -> Any:
    """Run Python with these arguments from the folder that holds ``benchmarks``."""
    finished = subprocess.run(
        [sys.executable, *arguments],
        cwd=Path(__file__).parents[1],
        env={**os.environ, **(environment or {})},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(finished.stdout.splitlines()[-1])
