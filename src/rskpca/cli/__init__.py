"""The command ``rskpca``: plan, fit, embed, report and compare from a shell."""

import signal
import sys

__all__ = ["main"]

INTERRUPTED, TERMINATED = 130, 143


def main() -> None:
    """Run the command line; where typer or rich is missing, say what to install."""
    try:
        import rich  # noqa: F401
        import typer  # noqa: F401
    except ImportError as error:
        sys.exit(f'error: the command line needs {error.name}: pip install "rskpca[cli]".')
    try:
        from .app import app
    except KeyboardInterrupt:  # from here on the program tells it
        sys.exit(INTERRUPTED)
    # as an exception, so that files under way are removed
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
    app(prog_name="rskpca")
