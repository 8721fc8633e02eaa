"""Run scikit-learn's own tests of KernelPCA with rskpca.KernelPCA in its place.

    python tools/peer_tests.py [pytest options]

The tests are those of the installed version of scikit-learn. Each expected failure is listed below
with its reason.
"""

import os
import sys

import pytest
import sklearn.decomposition.tests.test_kernel_pca as peer

import rskpca

EXPECTED = {
    "test_precomputed_kernel_not_psd[randomized]": (
        "scikit-learn's randomized solver selects eigenvalues by their absolute value and raises "
        "an error; ours returns the two largest eigenvalues, like the other solvers"
    ),
}


class Substitute:
    """Pytest plugin that replaces the class under test and marks the expected failures."""

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Replace the class, and mark tests that are expected to fail."""
        peer.KernelPCA = rskpca.KernelPCA
        for item in items:
            if item.name in EXPECTED:
                item.add_marker(pytest.mark.xfail(reason=EXPECTED[item.name], strict=True))


def main(options: list[str]) -> int:
    """Run the tests and return pytest's exit code."""
    path = str(peer.__file__)
    settings = ["-c", os.devnull, "--rootdir", os.path.dirname(path), "-p", "no:cacheprovider"]
    arguments = [path, *settings, "-rx"]
    return int(pytest.main([*arguments, *options], plugins=[Substitute()]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
