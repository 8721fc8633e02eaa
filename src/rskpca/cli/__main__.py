"""Run the command line as ``python -m rskpca.cli``."""

from . import main

main()
