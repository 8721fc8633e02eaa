"""Run scikit-learn's own tests of KernelPCA with rskpca.KernelPCA in its place."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
def test_kernel_pca_passes_the_tests_of_scikit_learn():
    command = [sys.executable, str(ROOT / "tools" / "peer_tests.py"), "-q"]
    finished = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=600)
    assert finished.returncode == 0, finished.stdout[-3000:]
    assert " passed" in finished.stdout
