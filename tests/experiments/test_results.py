"""Result files are whole, and are read again only for the same settings."""

import json

import pytest

from experiments import results
from experiments.settings import Settings


def test_what_is_written_is_read(tmp_path):
    content = {"key": {"runs": 2}, "numbers": {"a": [1.5, None], "b": {"c": "x"}}}
    results.write(tmp_path / "deep" / "x.json", content)
    assert results.read(tmp_path / "deep" / "x.json") == content
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["x.json"]


def test_numbers_that_json_lacks_are_refused_and_leave_nothing(tmp_path):
    with pytest.raises(ValueError, match="JSON"):
        results.write(tmp_path / "x.json", {"numbers": [float("nan")]})
    assert list(tmp_path.iterdir()) == []


def test_kept_numbers_are_made_once_for_a_key(tmp_path):
    made = []

    def make():
        made.append(1)
        return len(made)

    path = tmp_path / "part.json"
    assert results.kept(path, {"runs": 2}, make) == 1
    assert results.kept(path, {"runs": 2}, make) == 1
    assert results.kept(path, {"runs": 3}, make) == 2


def test_a_broken_file_is_named(tmp_path):
    path = tmp_path / "x.json"
    path.write_text('{"key": ')
    with pytest.raises(ValueError, match="is no JSON"):
        results.read(path)


def test_a_finished_result_says_what_made_it():
    settings = Settings(runs=3, command="python -m experiments fig02 --runs 3")
    found = json.loads(json.dumps(results.finished("fig02", settings, 1.25, {"a": 1})))
    assert found["command"] == settings.command
    assert found["key"] == {"quick": False, "runs": 3}
    assert {"numpy", "scikit-learn", "cpu", "cpus"} <= set(found["environment"])
