"""The command: quick runs of every figure, twice the same; interruptions; wrong input."""

import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from experiments import protocol, retained, study
from experiments.__main__ import main
from experiments.data import MissingDataError, load
from experiments.registry import MODULES

TIMES = ("fit", "embed", "transform")
ROOT = Path(__file__).parents[2]


def run(folder, *arguments):
    return main([*arguments, "--jobs", "1", "--output", str(folder)])


def untimed(path):
    """The rows of a result, without what a clock said."""
    rows = json.loads(path.read_text())["numbers"]["rows"]
    return {name: values for name, values in rows.items() if name not in TIMES}


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    folder = tmp_path_factory.mktemp("quick")
    assert run(folder, "all", "--quick") == 0
    return folder


@pytest.mark.slow
def test_a_quick_run_makes_every_product(quick):
    assert {path.stem for path in (quick / "results").iterdir()} == set(MODULES)
    pictures = {path.stem for path in (quick / "pictures").glob("*.png")}
    assert pictures >= set(MODULES) - {"claims"}
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
def test_every_method_is_measured_at_every_ell_and_run(quick, name, methods):
    rows = json.loads((quick / "results" / f"{name}.json").read_text())["numbers"]["rows"]
    exact = {"kpca", "sklearn-kpca", "kpca-dense", "sklearn-nystroem"}
    assert set(rows["method"]) == methods | exact
    seen = list(zip(rows["method"], rows["ell"], rows["run"], strict=True))
    assert len(set(seen)) == len(seen)
    for method in methods:
        for ell in protocol.QUICK_ELLS:
            assert {(method, ell, 0), (method, ell, 1)} <= set(seen)


@pytest.mark.slow
def test_others_have_as_many_centers_as_the_shadow_method_has_in_the_mean(quick):
    rows = json.loads((quick / "results" / "fig02.json").read_text())["numbers"]["rows"]
    sizes = {}
    for method, ell, m in zip(rows["method"], rows["ell"], rows["m"], strict=True):
        sizes.setdefault((method, ell), []).append(m)
    for ell in protocol.QUICK_ELLS:
        mean = round(sum(sizes["shadow", ell]) / 2)
        assert sizes["nystrom", ell] == sizes["subsampled", ell] == [mean, mean]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["fig02", "fig08"])
def test_twice_the_same_numbers_except_timings(quick, tmp_path, name):
    assert run(tmp_path, name, "--quick") == 0
    result = Path("results") / f"{name}.json"
    assert untimed(tmp_path / result) == untimed(quick / result)


@pytest.mark.slow
def test_two_processes_give_the_numbers_of_one(quick, tmp_path):
    assert main(["fig02", "--quick", "--jobs", "2", "--output", str(tmp_path)]) == 0
    result = Path("results") / "fig02.json"
    assert untimed(tmp_path / result) == untimed(quick / result)


@pytest.mark.slow
def test_a_killed_run_goes_on_where_it_was(quick, tmp_path):
    command = [sys.executable, "-m", "experiments", "fig02", "--quick", "--jobs", "1"]
    child = subprocess.Popen([*command, "--output", str(tmp_path)], cwd=ROOT)
    parts = tmp_path / "partial"
    while not list(parts.glob("*.json")):
        assert child.poll() is None
        time.sleep(0.01)
    child.send_signal(signal.SIGKILL)
    child.wait()
    result = Path("results") / "fig02.json"
    assert not (tmp_path / result).exists()
    before = {path: path.stat().st_mtime_ns for path in parts.glob("*.json")}
    assert run(tmp_path, "fig02", "--quick") == 0
    assert before == {path: path.stat().st_mtime_ns for path in before}
    assert len(list(parts.glob("*.json"))) > len(before)
    assert untimed(tmp_path / result) == untimed(quick / result)


@pytest.mark.slow
def test_results_are_read_again_unless_forced(quick, tmp_path):
    shutil.copytree(quick, tmp_path, dirs_exist_ok=True)
    path = tmp_path / "results" / "fig06.json"
    before = path.stat().st_mtime_ns
    assert run(tmp_path, "fig06", "--quick") == 0
    assert path.stat().st_mtime_ns == before
    assert run(tmp_path, "fig06", "--quick", "--force") == 0
    assert path.stat().st_mtime_ns > before


def test_an_unknown_name_is_refused_with_a_suggestion(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["fig2"])
    assert ended.value.code == 2
    assert "no experiment 'fig2'; do you mean fig02?" in capsys.readouterr().err


@pytest.mark.parametrize("runs", ["0", "-1"])
def test_no_runs_are_refused(capsys, runs):
    with pytest.raises(SystemExit):
        main(["fig02", f"--runs={runs}"])
    assert "must be at least 1" in capsys.readouterr().err


@pytest.fixture
def lonely(monkeypatch, tmp_path):
    """A folder that is the only place for data: no cache, no network."""
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("RSKPCA_DATA", str(folder))
    monkeypatch.setenv("RSKPCA_CACHE", str(folder))
    monkeypatch.setattr(protocol, "load", lambda name: load(name, download=False))
    protocol.dataset.cache_clear()
    yield folder
    protocol.dataset.cache_clear()


def test_missing_data_are_named_and_the_run_goes_on(lonely, tmp_path, capsys):
    assert run(tmp_path / "out", "fig02", "claims") == 1
    said = capsys.readouterr()
    assert "german" in said.err
    assert "RSKPCA_DATA" in said.err
    assert "for want of data: fig02" in said.err
    assert (tmp_path / "out" / "CLAIMS.md").is_file()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["fig06", "bounds"])
def test_the_other_sets_go_on_where_one_is_missing(monkeypatch, tmp_path, capsys, name):
    def but_for_yale(data, quick):
        if data == "yale":
            raise MissingDataError("yale is nowhere")
        return whole(data, quick)

    whole = protocol.dataset
    for module in (protocol, study, retained):
        monkeypatch.setattr(module, "dataset", but_for_yale)
    assert run(tmp_path, name, "claims", "--quick") == 1
    assert f"{name}: yale is nowhere" in capsys.readouterr().err
    content = json.loads((tmp_path / "results" / f"{name}.json").read_text())
    assert list(content["numbers"].get("sets", content["numbers"])) == [
        "german",
        "pendigits",
        "usps",
    ]
    assert (tmp_path / "pictures" / f"{name}.png").is_file()
    page = (tmp_path / "CLAIMS.md").read_text()
    assert "without yale" in page
    assert ("needs fig06 with yale" in page) == (name == "fig06")

    monkeypatch.undo()
    assert run(tmp_path, name, "--quick") == 0  # now it is there, and the result is not reused
    assert "yale" in (tmp_path / "results" / f"{name}.json").read_text()


def test_wrong_data_are_refused(lonely, tmp_path, capsys):
    (lonely / "german.npz").write_bytes(b"not it")
    assert run(tmp_path / "out", "fig02") == 1
    assert "german.npz cannot be read" in capsys.readouterr().err
    assert not (tmp_path / "out" / "results" / "fig02.json").exists()
