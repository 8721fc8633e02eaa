"""A quick run of one experiment, in this process."""

from __future__ import annotations

import json

from experiments.registry import experiment
from experiments.settings import Settings


def quick(output, **options) -> Settings:
    return Settings(quick=True, runs=2, jobs=1, output=output, **options)


def made(name, settings):
    """The numbers, as they come back from JSON, and the file that is drawn of them."""
    found = experiment(name)
    numbers = json.loads(json.dumps(found.compute(settings), allow_nan=False))
    path = settings.output / found.product
    found.draw(numbers, path)
    return numbers, path
