"""Peak memory of a fit, in a fresh process: ``python -m rskpca.cli.memory JSON``."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

_WARM = 500  # rows of a fit before, for what is loaded and compiled once


def peak(made: dict[str, Any], data: Path) -> float:
    """Megabytes that a fit takes at most, above the data.

    Parameters
    ----------
    made : dict
        ``method``, of :data:`rskpca.baselines.methods.METHODS`, and what its ``make`` takes, with
        ``bandwidth`` in place of a kernel.
    data : Path
        The rows, as .npy.

    Returns
    -------
    float
        Of a process of its own, so that no method uses what another has left.
    """
    order = json.dumps({**made, "data": str(data)})
    command = [sys.executable, "-m", __name__, order]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    if finished.returncode:
        raise MemoryError(
            f"{made['method']} could not be fitted in a process of its own (exit code "
            f"{finished.returncode}); take fewer rows. {finished.stderr[-200:]}"
        )
    return float(json.loads(finished.stdout.splitlines()[-1]))


def megabytes(field: str) -> float:
    """``VmRSS`` (now) or ``VmHWM`` (the peak) of this process."""
    # Not ru_maxrss where it can be helped: on Linux that starts from the parent's peak.
    status = Path("/proc/self/status")
    if not status.exists():
        import resource

        unit = 1e6 if sys.platform == "darwin" else 1e3
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
    line = next(x for x in status.read_text().splitlines() if x.startswith(field))
    return int(line.split()[1]) * 1024 / 1e6


def _child(order: str) -> None:
    from .. import Gaussian
    from ..baselines.methods import METHODS

    asked = json.loads(order)
    rows = np.load(asked.pop("data"))
    method, kernel = METHODS[asked.pop("method")], Gaussian(asked.pop("bandwidth"))
    make = {"kernel": kernel, **asked}
    few = 2 * asked["n_components"] + 10
    small = {**make, "size": few} if method.size == "n_centers" else make
    method.make(**small).fit(rows[:_WARM])
    before = megabytes("VmRSS")
    method.make(**make).fit(rows)
    print(json.dumps(megabytes("VmHWM") - before))


if __name__ == "__main__":
    _child(sys.argv[1])
