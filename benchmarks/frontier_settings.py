"""The settings whose errors and times the frontier is drawn from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from rskpca import Gaussian, ReducedSetKernelPCA
from rskpca.baselines.methods import METHODS

R = 5
ELLS = (3.0, 4.0, 5.0)
BASES = (25, 50, 100, 200, 400)
SIZES = (25, 50, 75, 100, 150, 200, 300, 400)
STORED = 12_000  # rows up to which rskpca keeps the whole kernel matrix for ell=inf
LARGEST = 2_000  # landmarks
LARGEST_EXACT = 16_000  # rows for exact kernel PCA
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
    """All of them for n rows, of which the shadow density keeps ``centers[ell]``.

    On more rows than exact kernel PCA can take, ``refined`` at ell 5 is what errors are relative
    to, and so is left out.
    """
    sizes = sorted({m for m in (*SIZES, *centers.values()) if m <= min(LARGEST, n_rows // 3)})
    few = [m for m in sizes if m in (25, 50, 100, 200, 400)]
    return [
        *_shadow(kernel),
        *_refined(kernel, centers, ELLS if n_rows <= LARGEST_EXACT else ELLS[:2]),
        *_counted("Nystrom", "nystrom-landmarks", kernel, sizes),
        *_counted("RPCholesky", "nystrom-rpcholesky", kernel, few[:4]),
        *_exact(kernel, n_rows),
        *_counted("Nystroem + PCA", "sklearn-nystroem", kernel, sizes),
        *_counted("Fourier + PCA", "fourier", kernel, [2 * m for m in few if m <= 200]),
    ]


def _shadow(kernel: Gaussian) -> Iterator[Setting]:
    for ell in ELLS:
        yield _deterministic("paper", f"ell {ell:g}", kernel=kernel, ell=ell)
        yield _deterministic("two scales", f"ell {ell:g}", kernel=kernel, ell=ell, basis="auto")


def _refined(
    kernel: Gaussian, centers: dict[float, int], ells: tuple[float, ...]
) -> Iterator[Setting]:
    refined = partial(_deterministic, "refined", kernel=kernel, refine="nystrom")
    for ell in ells:
        if centers[ell] <= LARGEST:
            yield refined(f"ell {ell:g}", ell=ell)
        yield refined(f"ell {ell:g}, auto", ell=ell, basis="auto")
    for m in BASES:
        if m < centers[3.0]:
            yield refined(f"ell 3, {m}", ell=3.0, basis=m)


def _deterministic(family: str, size: str, *, kernel: Gaussian, **options: Any) -> Setting:
    def make(seed: int) -> Any:
        return ReducedSetKernelPCA(R, kernel=kernel, **options)

    return Setting(family, size, make, random=False)


def _counted(family: str, key: str, kernel: Gaussian, sizes: list[int]) -> Iterator[Setting]:
    for m in sizes:
        yield Setting(family, str(m), partial(_made, key, kernel, m))


def _exact(kernel: Gaussian, n_rows: int) -> Iterator[Setting]:
    if n_rows <= STORED:
        yield Setting("ell=inf", "", partial(_made, "kpca", kernel, None), random=False)
    if n_rows <= LARGEST_EXACT:
        yield Setting("KernelPCA", "", partial(_made, "sklearn-kpca", kernel, None))


def _made(key: str, kernel: Gaussian, size: int | None, seed: int) -> Any:
    return METHODS[key].make(R, kernel, size, random_state=seed)
