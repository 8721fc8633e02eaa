"""Run single experiments quickly and in this process."""

from __future__ import annotations

import json

from experiments.experiment import Settings, get_experiment


def quick_settings(output, **options) -> Settings:
    return Settings(quick=True, runs=2, jobs=1, output=output, **options)


def run_experiment(name, settings):
    """Return the numbers after a JSON round trip, and the file generated from them."""
    experiment = get_experiment(name)
    numbers = json.loads(json.dumps(experiment.compute(settings), allow_nan=False))
    path = settings.output / experiment.product
    experiment.draw(numbers, path)
    return numbers, path
