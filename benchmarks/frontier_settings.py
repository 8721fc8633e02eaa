"""The settings whose errors and times the frontier is drawn from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from rskpca import Gaussian, ReducedSetKernelPCA
from rskpca.methods import METHODS

R = 5
ELLS = (3.0, 4.0, 5.0)
BASES = (25, 50, 100)
SIZES = (25, 50, 75, 100, 150, 200, 300, 400)
STORED = 12_000  # rows up to which rskpca keeps the whole kernel matrix for ell=inf
LARGEST = 2_000  # landmarks
OURS = ("paper", "two scales", "refined", "Nystrom", "RPCholesky", "ell=inf")
PEERS = ("KernelPCA", "Nystroem + PCA", "Fourier + PCA")


@dataclass(frozen=True)
class Setting:
    """A method, and how large it is; ``make(seed)`` is an estimator that is not fitted."""

    family: str
    size: str
    make: Callable[[int], Any]
    random: bool = True

    @property
    def name(self) -> str:
        return f"{self.family}, {self.size}" if self.size else self.family


def settings(kernel: Gaussian, n_rows: int, centers: dict[float, int]) -> list[Setting]:
    """All of them for n rows, of which the shadow density keeps ``centers[ell]``."""
    sizes = sorted({m for m in (*SIZES, *centers.values()) if m <= min(LARGEST, n_rows // 3)})
    few = [m for m in sizes if m in (25, 50, 100, 200, 400)]
    return [
        *_shadow(kernel, centers),
        *_counted("Nystrom", "nystrom-landmarks", kernel, sizes),
        *_counted("RPCholesky", "nystrom-rpcholesky", kernel, few[:4]),
        *_exact(kernel, n_rows),
        *_counted("Nystroem + PCA", "sklearn-nystroem", kernel, sizes),
        *_counted("Fourier + PCA", "fourier", kernel, [2 * m for m in few if m <= 200]),
    ]


def _shadow(kernel: Gaussian, centers: dict[float, int]) -> Iterator[Setting]:
    for ell in ELLS:
        yield _deterministic("paper", f"ell {ell:g}", kernel, ell=ell)
        yield _deterministic("two scales", f"ell {ell:g}", kernel, ell=ell, basis="auto")
    for ell in ELLS[:2]:
        if centers[ell] <= LARGEST:
            yield _deterministic("refined", f"ell {ell:g}", kernel, ell=ell, refine="nystrom")
        yield _deterministic(
            "refined", f"ell {ell:g}, auto", kernel, ell=ell, basis="auto", refine="nystrom"
        )
    for m in BASES:
        yield _deterministic(
            "refined", f"ell 3, {m}", kernel, ell=ELLS[0], basis=m, refine="nystrom"
        )


def _deterministic(family: str, size: str, kernel: Gaussian, **options: Any) -> Setting:
    def make(seed: int) -> Any:
        return ReducedSetKernelPCA(R, kernel=kernel, **options)

    return Setting(family, size, make, random=False)


def _counted(family: str, key: str, kernel: Gaussian, sizes: list[int]) -> Iterator[Setting]:
    for m in sizes:
        yield Setting(family, str(m), partial(_made, key, kernel, m))


def _exact(kernel: Gaussian, n_rows: int) -> Iterator[Setting]:
    if n_rows <= STORED:
        yield Setting("ell=inf", "", partial(_made, "kpca", kernel, None), random=False)
    if n_rows <= 16_000:
        yield Setting("KernelPCA", "", partial(_made, "sklearn-kpca", kernel, None))


def _made(key: str, kernel: Gaussian, size: int | None, seed: int) -> Any:
    return METHODS[key].make(R, kernel, size, random_state=seed)
