"""Run single experiments quickly and in this process."""

from __future__ import annotations

import json

from experiments.experiment import Settings, get_experiment


def quick_settings(output, **options) -> Settings:
    return Settings(quick=True, runs=2, jobs=1, output=output, **options)


def compute(name, settings):
    """Return the numbers of an experiment after a JSON round trip."""
    return json.loads(json.dumps(get_experiment(name).compute(settings), allow_nan=False))


def run_experiment(name, settings):
    """Return the numbers, and the file generated from them."""
    experiment, numbers = get_experiment(name), compute(name, settings)
    path = settings.output / experiment.product
    experiment.draw(numbers, path)
    return numbers, path
