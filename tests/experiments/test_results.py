"""Test that result files are written atomically and reused only for the same settings."""

import json

import pytest

from experiments import results
from experiments.experiment import Settings


def test_a_written_file_is_read_back_unchanged(tmp_path):
    content = {"key": {"runs": 2}, "numbers": {"a": [1.5, None], "b": {"c": "x"}}}
    results.write(tmp_path / "deep" / "x.json", content)
    assert results.read(tmp_path / "deep" / "x.json") == content
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["x.json"]


def test_nan_raises_an_error_and_leaves_no_file(tmp_path):
    with pytest.raises(ValueError, match="JSON"):
        results.write(tmp_path / "x.json", {"numbers": [float("nan")]})
    assert list(tmp_path.iterdir()) == []


def test_numbers_are_computed_once_per_key(tmp_path):
    calls = []

    def compute():
        calls.append(1)
        return len(calls)

    path = tmp_path / "part.json"
    assert results.load_or_compute(path, {"runs": 2}, compute) == 1
    assert results.load_or_compute(path, {"runs": 2}, compute) == 1
    assert results.load_or_compute(path, {"runs": 3}, compute) == 2


def test_the_error_names_an_invalid_file(tmp_path):
    path = tmp_path / "x.json"
    path.write_text('{"key": ')
    with pytest.raises(ValueError, match=r"x\.json is not valid JSON"):
        results.read(path)


def test_a_result_records_its_command_settings_and_environment():
    settings = Settings(runs=3, command="python -m experiments fig02 --runs 3")
    found = json.loads(json.dumps(results.describe_run("fig02", settings, 1.25, {"a": 1})))
    assert found["command"] == settings.command
    assert found["key"] == {"quick": False, "runs": 3}
    assert {"numpy", "scikit-learn", "cpu", "cpus"} <= set(found["environment"])
