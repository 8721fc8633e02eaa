"""Test the command line with quick, repeated and interrupted runs and with invalid input."""

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from experiments import protocol, retained, study
from experiments.__main__ import main
from experiments.data import MissingDataError, load
from experiments.experiment import HERE, MODULES, get_experiment

TIMES = ("fit", "embed", "transform")
ROOT = Path(__file__).parents[2]


def run(folder, *arguments):
    return main([*arguments, "--jobs", "1", "--output", str(folder)])


def rows_without_times(path):
    """Return the rows of a result file without its timings.

    scikit-learn's methods are left out: their solvers are those that were fastest in this run, and
    the randomized ones are not exact.
    """
    rows = json.loads(path.read_text())["numbers"]["rows"]
    kept = [i for i, method in enumerate(rows["method"]) if not method.startswith("sklearn-")]
    columns = {name: values for name, values in rows.items() if name not in TIMES}
    return {name: [values[i] for i in kept] for name, values in columns.items()}


@pytest.mark.parametrize("name", MODULES)
def test_the_published_results_can_be_drawn(name, tmp_path):
    numbers = json.loads((HERE / "results" / f"{name}.json").read_text())["numbers"]
    experiment = get_experiment(name)
    product = tmp_path / experiment.product
    product.parent.mkdir(exist_ok=True)
    experiment.draw(numbers, product)
    assert product.exists()


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    folder = tmp_path_factory.mktemp("quick")
    assert run(folder, "all", "--quick") == 0
    return folder


@pytest.mark.slow
def test_a_quick_run_creates_every_file(quick):
    assert {path.stem for path in (quick / "results").iterdir()} == set(MODULES)
    pictures = {path.stem: path for path in (quick / "pictures").glob("*.png")}
    assert set(pictures) >= set(MODULES) - {"claims"}
    assert all(path.stat().st_size > 10_000 for path in pictures.values())
    assert (quick / "CLAIMS.md").read_text()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "methods"),
    [
        ("fig02", {"shadow", "subsampled", "nystrom", "wnystrom"}),
        ("fig03", {"shadow", "subsampled", "nystrom", "wnystrom"}),
        ("fig04", {"shadow", "subsampled", "nystrom", "wnystrom"}),
        ("fig05", {"shadow", "subsampled", "nystrom", "wnystrom"}),
        ("fig07", {"shadow", "kmeans", "paring", "herding"}),
        ("fig08", {"shadow", "kmeans", "paring", "herding"}),
    ],
)
def test_every_method_is_measured_at_every_ell_in_every_run(quick, name, methods):
    rows = json.loads((quick / "results" / f"{name}.json").read_text())["numbers"]["rows"]
    exact = {"kpca", "sklearn-kpca", "kpca-dense", "sklearn-nystroem"}
    assert set(rows["method"]) == methods | exact
    seen = list(zip(rows["method"], rows["ell"], rows["run"], strict=True))
    assert len(set(seen)) == len(seen)
    for method in methods:
        for ell in protocol.QUICK_ELLS:
            assert {(method, ell, 0), (method, ell, 1)} <= set(seen)


@pytest.mark.slow
def test_other_methods_use_the_mean_number_of_shadow_centers(quick):
    rows = json.loads((quick / "results" / "fig02.json").read_text())["numbers"]["rows"]
    sizes = {}
    for method, ell, m in zip(rows["method"], rows["ell"], rows["m"], strict=True):
        sizes.setdefault((method, ell), []).append(m)
    for ell in protocol.QUICK_ELLS:
        mean = round(sum(sizes["shadow", ell]) / 2)
        assert sizes["nystrom", ell] == sizes["subsampled", ell] == [mean, mean]


@pytest.mark.slow
def test_a_second_run_gives_the_same_numbers_except_timings(quick, tmp_path):
    assert run(tmp_path, "fig08", "--quick") == 0
    result = Path("results") / "fig08.json"
    assert rows_without_times(tmp_path / result) == rows_without_times(quick / result)


@pytest.mark.slow
def test_two_processes_give_the_same_numbers_as_one(quick, tmp_path):
    assert main(["fig02", "--quick", "--jobs", "2", "--output", str(tmp_path)]) == 0
    result = Path("results") / "fig02.json"
    assert rows_without_times(tmp_path / result) == rows_without_times(quick / result)


@pytest.mark.slow
def test_a_killed_run_can_be_resumed(quick, tmp_path):
    command = [sys.executable, "-m", "experiments", "fig02", "--quick", "--jobs", "1"]
    child = subprocess.Popen([*command, "--output", str(tmp_path)], cwd=ROOT)
    parts = tmp_path / "partial"
    while not list(parts.glob("*.json")):
        assert child.poll() is None
        time.sleep(0.01)
    child.kill()
    child.wait()
    result = Path("results") / "fig02.json"
    assert not (tmp_path / result).exists()
    before = {path: path.stat().st_mtime_ns for path in parts.glob("*.json")}
    assert run(tmp_path, "fig02", "--quick") == 0
    assert before == {path: path.stat().st_mtime_ns for path in before}
    assert len(list(parts.glob("*.json"))) > len(before)
    assert rows_without_times(tmp_path / result) == rows_without_times(quick / result)


@pytest.mark.slow
def test_existing_results_are_reused_unless_a_rerun_is_forced(quick, tmp_path):
    shutil.copytree(quick, tmp_path, dirs_exist_ok=True)
    path = tmp_path / "results" / "fig06.json"
    before = path.stat().st_mtime_ns
    assert run(tmp_path, "fig06", "--quick") == 0
    assert path.stat().st_mtime_ns == before
    assert run(tmp_path, "fig06", "--quick", "--force") == 0
    assert path.stat().st_mtime_ns > before


def test_an_unknown_name_raises_an_error_with_a_suggestion(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["fig2"])
    assert ended.value.code == 2
    assert "Unknown experiment 'fig2'. Did you mean 'fig02'?" in capsys.readouterr().err


@pytest.mark.parametrize("runs", ["0", "-1"])
def test_the_number_of_runs_must_be_positive(capsys, runs):
    with pytest.raises(SystemExit):
        main(["fig02", f"--runs={runs}"])
    assert "must be at least 1" in capsys.readouterr().err


@pytest.fixture
def only_folder(monkeypatch, tmp_path):
    """Return a folder that is the only source of data, without a cache or network access."""
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("RSKPCA_DATA", str(folder))
    monkeypatch.setenv("RSKPCA_CACHE", str(folder))
    monkeypatch.setattr(protocol, "load", lambda name: load(name, download=False))
    protocol.dataset.cache_clear()
    yield folder
    protocol.dataset.cache_clear()


def test_a_run_reports_missing_data_and_continues(only_folder, tmp_path, capsys):
    assert run(tmp_path / "out", "fig02", "claims") == 1
    message = capsys.readouterr().err
    assert "german" in message
    assert "RSKPCA_DATA" in message
    assert "because of missing data: fig02" in message
    assert (tmp_path / "out" / "CLAIMS.md").is_file()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["fig06", "bounds"])
def test_other_data_sets_are_used_if_one_is_missing(monkeypatch, tmp_path, capsys, name):
    def load_except_yale(data, quick):
        if data == "yale":
            raise MissingDataError("yale is missing")
        return load_any(data, quick)

    load_any = protocol.dataset
    for module in (protocol, study, retained):
        monkeypatch.setattr(module, "dataset", load_except_yale)
    assert run(tmp_path, name, "claims", "--quick") == 1
    assert f"{name}: yale is missing" in capsys.readouterr().err
    content = json.loads((tmp_path / "results" / f"{name}.json").read_text())
    assert list(content["numbers"].get("sets", content["numbers"])) == [
        "german",
        "pendigits",
        "usps",
    ]
    assert (tmp_path / "pictures" / f"{name}.png").is_file()
    page = (tmp_path / "CLAIMS.md").read_text()
    assert "without yale" in page
    assert ("requires fig06 with yale" in page) == (name == "fig06")

    monkeypatch.undo()
    assert run(tmp_path, name, "--quick") == 0  # yale is available again, so it is rerun
    assert "yale" in (tmp_path / "results" / f"{name}.json").read_text()


def test_incorrect_data_raise_an_error(only_folder, tmp_path, capsys):
    (only_folder / "german.npz").write_bytes(b"not an archive")
    assert run(tmp_path / "out", "fig02") == 1
    assert "german.npz cannot be read" in capsys.readouterr().err
    assert not (tmp_path / "out" / "results" / "fig02.json").exists()
