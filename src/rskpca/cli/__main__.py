"""``python -m rskpca.cli`` is ``rskpca``."""

from . import main

main()
