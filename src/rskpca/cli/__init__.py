"""The ``rskpca`` command line: plan, fit, embed, report and compare from a shell."""

import signal
import sys

from .._format import missing_package

__all__ = ["main"]

INTERRUPTED, TERMINATED = 130, 143


def main() -> None:
    """Run the command line, or print installation instructions if typer or rich is missing."""
    try:
        import rich  # noqa: F401
        import typer  # noqa: F401
    except ImportError as error:
        sys.exit(f"error: {missing_package('the command line', str(error.name), 'cli')}")
    try:
        from .app import app
    except KeyboardInterrupt:  # interrupts after this point are handled by the program
        sys.exit(INTERRUPTED)
    # Raising an exception lets context managers remove unfinished files.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
    app(prog_name="rskpca")
