"""Algorithm 2, exactly, as fast as the machine allows.

Giving each row to the *first* center within the radius, else opening a center, is
Algorithm 2 for any chunking of the rows: a row joins the center that would have taken it
out of the data first. So rows are taken in blocks: threads look for the first settled
center of each row, then one loop walks the rows that found none and opens centers.

Single precision only rules centers out. With u the unit roundoff of float32, rows and
centers shifted and scaled so that the radius is 1, and N = ||x||, a center within the
radius has, by differences, an approximate squared distance below

    (1 + u (2N + 3))^2 (1 + (d + 4) u),

and, by ||x||^2 + ||c||^2 - 2 <x, c>, below that plus u (2d + 24) (N + 1)^2. The limits used
double every u. What is not ruled out is decided by differences in float64. Rows whose scaled
norm single precision cannot hold, and radii whose square is subnormal (the differences lose
digits that the scaled rows have), go that way at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .parallel import Map, slices, workers

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]
Progress = Callable[[int, int], None]

# Chosen by measurement (`python -m benchmarks cover`).
PRODUCTS_FROM_FEATURES = 96
BALLS_FROM_CENTERS = 4096
HEAD = 1024
PANEL = 512

_U32 = 2.0 * 2.0**-24
_TRUSTED_NORM = 1e15
_TRUSTED_RADIUS = 1e-140


class _Block(NamedTuple):
    """Rows under way: as given, and scaled to single precision with their limits."""

    X: Floats
    X32: NDArray[np.float32]
    norms: NDArray[np.float32]
    limits: NDArray[np.float32]
    labels: Labels
    squared: Floats

    def sample(self, size: int) -> _Block:
        """Copies of some rows from all over."""
        rows = np.linspace(0, len(self.X), size, endpoint=False).astype(np.intp)
        return self.part(np.unique(rows))

    def part(self, rows: slice | Labels) -> _Block:
        """Some of the rows; views of a slice."""
        return _Block(
            self.X[rows], self.X32[rows], self.norms[rows], self.limits[rows],
            self.labels[rows], self.squared[rows],
        )  # fmt: skip


class _Growing:
    """An array that grows at the end, at most doubling."""

    def __init__(self, empty: NDArray[Any], fill: float = 0.0) -> None:
        self.data, self.fill = empty, fill

    def reserve(self, size: int) -> NDArray[Any]:
        if size > len(self.data):
            shape = (max(size, 2 * len(self.data)), *self.data.shape[1:])
            grown = np.full(shape, self.fill, dtype=self.data.dtype)
            grown[: len(self.data)] = self.data
            self.data = grown
        return self.data


def _n_tiles(n_centers: int) -> int:
    from .compiled import LANES

    return -(-n_centers // LANES)


def _tiles_of(rows32: NDArray[np.float32]) -> NDArray[np.float32]:
    from .compiled import LANES, fill_tiles

    tiles = np.full((_n_tiles(len(rows32)), rows32.shape[1], LANES), np.inf, dtype=np.float32)
    fill_tiles(rows32, 0, tiles)
    return tiles


class _Balls:
    """A coarse layer over the centers from ``HEAD`` on: every 64th is the pivot of a ball.

    Exact, because a ball is skipped only by the triangle inequality. ``stop`` is the first
    center that is not in it.
    """

    def __init__(self, C: Floats, C32: NDArray[np.float32], scale: float) -> None:
        self.pivot_rows = np.arange(HEAD, len(C32), 64)
        self.pivots = _tiles_of(C32[self.pivot_rows])
        self.nearest = np.empty(0, dtype=np.intp)
        self.radii = np.zeros(len(self.pivot_rows))
        self.update(C, C32, scale)

    def update(self, C: Floats, C32: NDArray[np.float32], scale: float) -> None:
        """Take in the centers that came since."""
        from .compiled import nearest_pivots

        start = HEAD + len(self.nearest)
        nearest = np.empty(len(C32), dtype=np.intp)
        nearest_pivots(C32, start, self.pivots, len(self.pivot_rows), nearest)
        fresh = nearest[start:]
        with np.errstate(over="ignore", invalid="ignore"):
            distances = np.linalg.norm(C[start : len(C32)] - C[self.pivot_rows[fresh]], axis=1)
            radii = np.nan_to_num(distances * scale * (1 + 1e-9), nan=np.inf)
            np.maximum.at(self.radii, fresh, radii)
            self.reach = ((1 + self.radii) ** 2 * (1 + 1e-6)).astype(np.float32)
        self.nearest = np.concatenate([self.nearest, fresh])
        self.stop = len(C32)
        self._lay_out(C32)

    def _lay_out(self, C32: NDArray[np.float32]) -> None:
        """The centers of each ball in tiles of their own, in their order."""
        from .compiled import LANES

        counts = np.bincount(self.nearest, minlength=len(self.radii))
        self.first_tile = np.concatenate([[0], np.cumsum(-(-counts // LANES))]).astype(np.intp)
        by_ball = np.argsort(self.nearest, kind="stable")
        position_in_ball = np.arange(len(by_ball)) - np.repeat(np.cumsum(counts) - counts, counts)
        place = np.repeat(self.first_tile[:-1], counts) * LANES + position_in_ball
        n_tiles = int(self.first_tile[-1])
        self.ids = np.full((n_tiles, LANES), np.iinfo(np.intp).max, dtype=np.intp)
        self.ids.reshape(-1)[place] = by_ball + HEAD
        self.tiles = np.full((n_tiles, C32.shape[1], LANES), np.inf, dtype=np.float32)
        self.tiles[place // LANES, :, place % LANES] = C32[by_ball + HEAD]

    def scan(self, block: _Block, C: Floats, squared_radius: float) -> int:
        from .compiled import scan_balls

        return scan_balls(
            block.X, block.X32, block.limits, self.pivots, self.reach, self.first_tile,
            self.tiles, self.ids, C, self.stop, squared_radius, block.labels, block.squared,
        )  # fmt: skip


class _TileSearch:
    """Settled centers in tiles of 64; with many of them and where it pays, in balls."""

    def __init__(self, width: int, scale: float, squared_radius: float) -> None:
        from .compiled import LANES

        self.scale, self.squared_radius = scale, squared_radius
        self.tiles = _Growing(np.full((1, width, LANES), np.inf, dtype=np.float32), np.inf)
        self.rows32 = _Growing(np.zeros((LANES, width), dtype=np.float32))
        self.n_centers = 0
        self.balls: _Balls | None = None
        self.balls_from = BALLS_FROM_CENTERS

    def append(self, rows32: NDArray[np.float32], C: Floats) -> None:
        from .compiled import fill_tiles

        total = self.n_centers + len(rows32)
        fill_tiles(rows32, self.n_centers, self.tiles.reserve(_n_tiles(total)))
        self.rows32.reserve(total)[self.n_centers : total] = rows32
        self.n_centers = total
        if self.balls is not None and total - self.balls.stop > self.balls.stop // 16:
            self.balls.update(C, self._whole_tiles(), self.scale)

    def limits(self, norms: Floats, n_features: int) -> Floats:
        return (1 + _U32 * (2 * norms + 3)) ** 2 * (1 + (n_features + 4) * _U32)

    @property
    def wants_sample(self) -> bool:
        """Whether it is time to see if a coarse layer saves work."""
        return self.n_centers >= self.balls_from

    def consider(self, sample: _Block, C: Floats) -> None:
        """Build the coarse layer, and keep it if it at least halves the work on these rows."""
        from .compiled import LANES

        self.balls_from = 2 * self.n_centers
        balls = _Balls(C, self._whole_tiles(), self.scale)
        self._scan(sample, C, 0, HEAD)
        left = np.flatnonzero(sample.labels < 0)
        visited = balls.scan(sample, C, self.squared_radius)
        tails = np.where(sample.labels < 0, balls.stop, sample.labels)[left] - HEAD
        self.balls = balls if 2 * visited < np.sum(-(-tails // LANES)) else None

    def _whole_tiles(self) -> NDArray[np.float32]:
        """Centers that a coarse layer takes; the scan of the others starts at a tile."""
        from .compiled import LANES

        return self.rows32.data[: self.n_centers // LANES * LANES]

    def search(self, block: _Block, C: Floats) -> None:
        if self.balls is None:
            self._scan(block, C, 0, self.n_centers)
            return
        self._scan(block, C, 0, HEAD)
        self.balls.scan(block, C, self.squared_radius)
        self._scan(block, C, self.balls.stop, self.n_centers)

    def _scan(self, block: _Block, C: Floats, start: int, stop: int) -> None:
        from .compiled import scan_tiles

        scan_tiles(
            block.X, block.X32, block.limits, self.tiles.data, C, start, stop,
            self.squared_radius, block.labels, block.squared, 0, len(block.X),
        )  # fmt: skip


class _ProductSearch:
    """Settled centers in rows, compared by blocked matrix products: for many features."""

    def __init__(self, width: int, squared_radius: float) -> None:
        self.squared_radius = squared_radius
        self.rows32 = _Growing(np.zeros((64, width), dtype=np.float32))
        self.norms = _Growing(np.zeros(64, dtype=np.float32))
        self.n_centers = 0

    def append(self, rows32: NDArray[np.float32], C: Floats) -> None:
        total = self.n_centers + len(rows32)
        self.rows32.reserve(total)[self.n_centers : total] = rows32
        with np.errstate(over="ignore"):
            norms = np.einsum("ij,ij->i", rows32, rows32, dtype=np.float64)
            self.norms.reserve(total)[self.n_centers : total] = norms
        self.n_centers = total

    def limits(self, norms: Floats, n_features: int) -> Floats:
        differences = (1 + _U32 * (2 * norms + 3)) ** 2
        return differences + _U32 * (2 * n_features + 24) * (norms + 1) ** 2

    def search(self, block: _Block, C: Floats) -> None:
        from .compiled import scan_exact, scan_products

        trusted = np.isfinite(block.limits)
        rows = np.flatnonzero(trusted & (block.labels < 0))
        left = len(rows)
        for panel in slices(0, self.n_centers, PANEL):
            if left == 0:
                break
            with np.errstate(over="ignore", invalid="ignore"):  # of centers beyond float32
                products = block.X32[rows[:left]] @ self.rows32.data[panel].T
            left = scan_products(
                products, rows, left, block.norms, block.limits, self.norms.data, block.X, C,
                panel.start, self.squared_radius, block.labels, block.squared,
            )  # fmt: skip
        scan_exact(
            block.X, np.flatnonzero(~trusted), C, self.n_centers, self.squared_radius,
            block.labels, block.squared,
        )  # fmt: skip


class Cover:
    """Centers of radius ``radius`` that grow as rows come; Algorithm 2 under any chunking.

    Parameters
    ----------
    radius : positive number; a row within less than this of a center is in its shadow.
    centers : centers to start from, in order.
    block_rows, n_threads : for tests; no result depends on them.
    """

    def __init__(
        self,
        radius: float,
        centers: NDArray[np.floating],
        *,
        block_rows: int | None = None,
        n_threads: int | None = None,
    ) -> None:
        self.radius = float(radius)
        self.n_features = centers.shape[1]
        self._block_rows, self._n_threads = block_rows, n_threads
        self._width = -(-self.n_features // 4) * 4
        self._centers = _Growing(np.empty((64, self.n_features)))
        self._origin: Floats | None = None
        many = self.n_features >= PRODUCTS_FROM_FEATURES
        self._scale = 1 / self.radius if self.radius > _TRUSTED_RADIUS else np.inf
        squared_radius = self.radius * self.radius  # not **2: pow rounds differently
        self._search: _ProductSearch | _TileSearch = (
            _ProductSearch(self._width, squared_radius)
            if many
            else _TileSearch(self._width, self._scale, squared_radius)
        )
        self._open_share = 1.0
        for rows in slices(0, len(centers), 4096):
            block = self._block(centers[rows])
            self._scale_rows(block)
            self._settle(block, np.arange(len(block.X)))

    @property
    def n_centers(self) -> int:
        return self._search.n_centers

    @property
    def centers(self) -> Floats:
        """The centers in float64, in the order in which they were opened."""
        return self._centers.data[: self.n_centers]

    def assign(self, X: NDArray[np.floating]) -> tuple[Labels, Floats]:
        """First center within the radius of each row (-1: none), and the squared distance."""
        return self._run(X, grow=False, progress=None)

    def extend(
        self, X: NDArray[np.floating], progress: Progress | None = None
    ) -> tuple[Labels, Floats]:
        """The same, opening a center for each row that has none."""
        return self._run(X, grow=True, progress=progress)

    def _run(
        self, X: NDArray[np.floating], *, grow: bool, progress: Progress | None
    ) -> tuple[Labels, Floats]:
        labels, squared = [], []
        start = 0
        with workers(self._n_threads) as run:
            while start < len(X):
                block = self._block(X[start : start + self._next_block()])
                self._find(block, run)
                if grow:
                    self._open(block)
                labels.append(block.labels)
                squared.append(block.squared)
                start += len(block.X)
                if progress is not None:
                    progress(start, self.n_centers)
        return _joined(labels, np.intp), _joined(squared, np.float64)

    def _next_block(self) -> int:
        """Rows such that opening, which is sequential, stays a small part of the work."""
        if self._block_rows is not None:
            return self._block_rows
        to_open = max(256, self.n_centers // 32) / max(self._open_share, 1e-3)
        return int(np.clip(to_open, 512, max(512, 2**21 // self.n_features)))

    def _block(self, X: NDArray[np.floating]) -> _Block:
        rows: Floats = np.ascontiguousarray(X, dtype=np.float64)
        if self._origin is None:
            with np.errstate(over="ignore"):
                self._origin = np.median(rows[:1024:32], axis=0)  # near the middle will do
        X32 = np.zeros((len(X), self._width), dtype=np.float32)
        norms, limits = np.empty((2, len(X)), dtype=np.float32)
        labels = np.full(len(X), -1, dtype=np.intp)
        return _Block(rows, X32, norms, limits, labels, np.zeros(len(X)))

    def _scale_rows(self, block: _Block) -> None:
        from .compiled import scale_rows

        squares = np.empty(len(block.X))
        scale_rows(block.X, self._origin, self._scale, block.X32, squares)
        norms = np.sqrt(squares)
        with np.errstate(over="ignore", invalid="ignore"):
            block.norms[:] = norms
            block.limits[:] = self._search.limits(norms, self.n_features)
        block.limits[~(norms < _TRUSTED_NORM)] = np.inf

    def _find(self, block: _Block, run: Map) -> None:
        """First settled center of each row, in parallel."""
        if isinstance(self._search, _TileSearch) and self._search.wants_sample:
            sample = block.sample(256)
            self._scale_rows(sample)
            self._search.consider(sample, self._centers.data)
        size = int(np.clip(len(block.X) // 4, 256, 8192))
        run(self._find_part, [block.part(rows) for rows in slices(0, len(block.X), size)])

    def _find_part(self, part: _Block) -> None:
        self._scale_rows(part)
        if self.n_centers:
            self._search.search(part, self._centers.data)

    def _open(self, block: _Block) -> None:
        from .compiled import LANES, open_centers

        missing = int(np.count_nonzero(block.labels < 0))
        self._open_share = missing / len(block.X)
        if missing == 0:
            return
        opened = np.empty(missing, dtype=np.intp)
        C = np.empty((missing, self.n_features))
        tiles = np.full((_n_tiles(missing), self._width, LANES), np.inf, dtype=np.float32)
        n_opened = open_centers(
            block.X, block.X32, block.limits, self._search.squared_radius, self.n_centers,
            block.labels, block.squared, opened, C, tiles,
        )  # fmt: skip
        self._settle(block, opened[:n_opened])

    def _settle(self, block: _Block, rows: Labels) -> None:
        first = self.n_centers
        centers = self._centers.reserve(first + len(rows))
        centers[first : first + len(rows)] = block.X[rows]
        self._search.append(block.X32[rows], centers)


def _joined(parts: list[NDArray[Any]], dtype: type) -> NDArray[Any]:
    return np.concatenate(parts) if parts else np.empty(0, dtype=dtype)
