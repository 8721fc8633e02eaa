"""Fast, exact implementation of Algorithm 2.

Assigning each row to the *first* center within the radius, or opening a new center if there is
none, reproduces Algorithm 2 for any chunking of the rows, because a row joins the center that would
have removed it from the data first. Rows are therefore processed in batches: threads find the first
existing center of each row, and then a sequential loop opens centers for the remaining rows.

Single precision is used only to rule out centers. Let rows and centers be shifted and scaled so
that the radius is 1, let u be the unit roundoff of float32 and N = ||x||. The approximate squared
distance to a center within the radius, computed from differences, is then below

    (1 + u (2N + 3))^2 (1 + (d + 4) u),

and, if computed as ||x||^2 + ||c||^2 - 2 <x, c>, below this limit plus u (2d + 24) (N + 1)^2. The
code uses these limits with u doubled. The remaining candidates are checked with float64
differences. Rows whose scaled norm exceeds the float32 range, and radii whose square is subnormal
(where differences lose digits that the scaled rows preserve), use only float64 differences.
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

LANES = 64  # centers per tile

# Tuned with `python -m benchmarks cover`.
PRODUCTS_FROM_FEATURES = 96  # use matrix products with at least this many features
BALLS_FROM_CENTERS = 4096  # try a ball index with at least this many centers
HEAD = 1024  # number of centers that are scanned before the balls
PANEL = 512  # centers per matrix product
_BALL_STEP = 64  # number of centers per pivot

_U32 = 2.0 * 2.0**-24  # twice the unit roundoff
_TRUSTED_NORM = 1e15  # rows with a larger scaled norm are compared only in float64
_TRUSTED_RADIUS = 1e-140  # with smaller radii, rows are compared only in float64


class _Batch(NamedTuple):
    """Batch of rows in float64 and scaled float32, with limits, labels and squared distances."""

    X: Floats
    X32: NDArray[np.float32]
    norms: NDArray[np.float32]
    limits: NDArray[np.float32]
    labels: Labels
    squared: Floats

    def sample(self, size: int) -> _Batch:
        """Return copies of ``size`` evenly spaced rows."""
        rows = np.linspace(0, len(self.X), size, endpoint=False).astype(np.intp)
        return self.take(np.unique(rows))

    def take(self, rows: slice | Labels) -> _Batch:
        """Return the selected rows, as views if ``rows`` is a slice."""
        from .compiled import read_only

        return _Batch(
            read_only(self.X[rows]), self.X32[rows], self.norms[rows], self.limits[rows],
            self.labels[rows], self.squared[rows],
        )  # fmt: skip


class _GrowableArray:
    """Array that grows along its first axis by doubling."""

    def __init__(self, empty: NDArray[Any], fill: float = 0.0) -> None:
        self.data, self.fill = empty, fill

    def reserve(self, size: int) -> NDArray[Any]:
        """Return the array, enlarged to at least ``size`` entries."""
        if size > len(self.data):
            shape = (max(size, 2 * len(self.data)), *self.data.shape[1:])
            grown = np.full(shape, self.fill, dtype=self.data.dtype)
            grown[: len(self.data)] = self.data
            self.data = grown
        return self.data


def _n_tiles(n_centers: int) -> int:
    return -(-n_centers // LANES)


def _to_tiles(rows32: NDArray[np.float32]) -> NDArray[np.float32]:
    from .compiled_cover import fill_tiles

    tiles = np.full((_n_tiles(len(rows32)), rows32.shape[1], LANES), np.inf, dtype=np.float32)
    fill_tiles(rows32, 0, tiles)
    return tiles


class _Balls:
    """Coarse index of the centers after the first ``HEAD``; every 64th is a ball's pivot.

    The search is exact, because a ball is skipped only if the triangle inequality rules it out.
    Centers at ``stop`` and beyond are not indexed yet.
    """

    def __init__(self, C: Floats, C32: NDArray[np.float32], scale: float) -> None:
        self.pivot_rows = np.arange(HEAD, len(C32), _BALL_STEP)
        self.pivots = _to_tiles(C32[self.pivot_rows])
        self.nearest = np.empty(0, dtype=np.intp)
        self.radii = np.zeros(len(self.pivot_rows))
        self.update(C, C32, scale)

    def update(self, C: Floats, C32: NDArray[np.float32], scale: float) -> None:
        """Add the centers opened since the last update."""
        from .compiled_cover import nearest_pivots

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
        """Store the centers of each ball in separate tiles, in ascending order."""
        counts = np.bincount(self.nearest, minlength=len(self.radii))
        self.first_tile = np.concatenate([[0], np.cumsum(-(-counts // LANES))]).astype(np.intp)
        by_ball = np.argsort(self.nearest, kind="stable")
        position_in_ball = np.arange(len(by_ball)) - np.repeat(np.cumsum(counts) - counts, counts)
        slot = np.repeat(self.first_tile[:-1], counts) * LANES + position_in_ball
        n_tiles = int(self.first_tile[-1])
        self.ids = np.full((n_tiles, LANES), np.iinfo(np.intp).max, dtype=np.intp)
        self.ids.reshape(-1)[slot] = by_ball + HEAD
        self.tiles = np.full((n_tiles, C32.shape[1], LANES), np.inf, dtype=np.float32)
        self.tiles[slot // LANES, :, slot % LANES] = C32[by_ball + HEAD]

    def scan(self, batch: _Batch, C: Floats, squared_radius: float) -> int:
        from .compiled_cover import scan_balls

        return scan_balls(
            batch.X, batch.X32, batch.limits, self.pivots, self.reach, self.first_tile,
            self.tiles, self.ids, C, self.stop, squared_radius, batch.labels, batch.squared,
        )  # fmt: skip


class _TileSearch:
    """Search in tiles of 64 centers, using a ball index for many centers if it is faster."""

    def __init__(self, width: int, scale: float, squared_radius: float) -> None:
        self.scale, self.squared_radius = scale, squared_radius
        self.tiles = _GrowableArray(np.full((1, width, LANES), np.inf, dtype=np.float32), np.inf)
        self.rows32 = _GrowableArray(np.zeros((LANES, width), dtype=np.float32))
        self.n_centers = 0
        self.balls: _Balls | None = None
        self.balls_from = BALLS_FROM_CENTERS

    def append(self, rows32: NDArray[np.float32], C: Floats) -> None:
        from .compiled_cover import fill_tiles

        total = self.n_centers + len(rows32)
        fill_tiles(rows32, self.n_centers, self.tiles.reserve(_n_tiles(total)))
        self.rows32.reserve(total)[self.n_centers : total] = rows32
        self.n_centers = total
        if self.balls is not None and total - self.balls.stop > self.balls.stop // 16:
            self.balls.update(C, self._whole_tiles(), self.scale)

    def rounding(self, n_features: int) -> tuple[float, float]:
        """Return the parameters of :func:`compiled_cover.set_limits`."""
        return 1 + (n_features + 4) * _U32, 0.0

    @property
    def balls_due(self) -> bool:
        """True if there are enough centers to try a ball index."""
        return self.n_centers >= self.balls_from

    def try_balls(self, sample: _Batch, C: Floats) -> None:
        """Build a ball index, and keep it if it at least halves the work for a sample of rows."""
        self.balls_from = 2 * self.n_centers
        balls = _Balls(C, self._whole_tiles(), self.scale)
        self._scan(sample, C, 0, HEAD)
        left = np.flatnonzero(sample.labels < 0)
        visited = balls.scan(sample, C, self.squared_radius)
        tails = np.where(sample.labels < 0, balls.stop, sample.labels)[left] - HEAD
        self.balls = balls if 2 * visited < np.sum(-(-tails // LANES)) else None

    def _whole_tiles(self) -> NDArray[np.float32]:
        """Return the centers in full tiles; the ball index contains only these."""
        return self.rows32.data[: self.n_centers // LANES * LANES]

    def search(self, batch: _Batch, C: Floats) -> None:
        if self.balls is None:
            self._scan(batch, C, 0, self.n_centers)
            return
        self._scan(batch, C, 0, HEAD)
        self.balls.scan(batch, C, self.squared_radius)
        self._scan(batch, C, self.balls.stop, self.n_centers)

    def _scan(self, batch: _Batch, C: Floats, start: int, stop: int) -> None:
        from .compiled_cover import scan_tiles

        scan_tiles(
            batch.X, batch.X32, batch.limits, self.tiles.data, C, start, stop,
            self.squared_radius, batch.labels, batch.squared, 0, len(batch.X),
        )  # fmt: skip


class _ProductSearch:
    """Search by matrix products with panels of centers, which is faster for many features."""

    def __init__(self, width: int, squared_radius: float) -> None:
        self.squared_radius = squared_radius
        self.rows32 = _GrowableArray(np.zeros((64, width), dtype=np.float32))
        self.norms = _GrowableArray(np.zeros(64, dtype=np.float32))
        self.n_centers = 0

    def append(self, rows32: NDArray[np.float32], C: Floats) -> None:
        total = self.n_centers + len(rows32)
        self.rows32.reserve(total)[self.n_centers : total] = rows32
        with np.errstate(over="ignore"):
            norms = np.einsum("ij,ij->i", rows32, rows32, dtype=np.float64)
            self.norms.reserve(total)[self.n_centers : total] = norms
        self.n_centers = total

    def rounding(self, n_features: int) -> tuple[float, float]:
        """Return the parameters of :func:`compiled_cover.set_limits`."""
        return 1.0, _U32 * (2 * n_features + 24)

    def search(self, batch: _Batch, C: Floats) -> None:
        from .compiled_cover import scan_exact, scan_products

        trusted = np.isfinite(batch.limits)
        rows = np.flatnonzero(trusted & (batch.labels < 0))
        left = len(rows)
        for panel in slices(0, self.n_centers, PANEL):
            if left == 0:
                break
            with np.errstate(over="ignore", invalid="ignore"):  # centers beyond the float32 range
                products = batch.X32[rows[:left]] @ self.rows32.data[panel].T
            left = scan_products(
                products, rows, left, batch.norms, batch.limits, self.norms.data, batch.X, C,
                panel.start, self.squared_radius, batch.labels, batch.squared,
            )  # fmt: skip
        scan_exact(
            batch.X, np.flatnonzero(~trusted), C, self.n_centers, self.squared_radius,
            batch.labels, batch.squared,
        )  # fmt: skip


class Cover:
    """Growing set of centers, built by Algorithm 2 independently of how the rows are chunked.

    A row closer than ``radius`` to a center is in the center's shadow; ``centers`` contains the
    initial centers in order. ``batch_rows`` and ``n_threads`` are for tests and do not affect the
    results.
    """

    in_feature_space = False

    def __init__(
        self,
        radius: float,
        centers: NDArray[np.floating],
        *,
        batch_rows: int | None = None,
        n_threads: int | None = None,
    ) -> None:
        self.radius = float(radius)
        self.n_features = centers.shape[1]
        self._batch_rows, self._n_threads = batch_rows, n_threads
        self._width = -(-self.n_features // 4) * 4
        self._centers = _GrowableArray(np.empty((64, self.n_features)))
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
            batch = self._new_batch(centers[rows])
            self._scale_rows(batch)
            self._append(batch, np.arange(len(batch.X)))

    @property
    def n_centers(self) -> int:
        return self._search.n_centers

    @property
    def centers(self) -> Floats:
        """The centers in float64, in the order in which they were opened."""
        return self._centers.data[: self.n_centers]

    def assign(self, X: NDArray[np.floating]) -> tuple[Labels, Floats]:
        """Return each row's first center within the radius, or -1, and the squared distance."""
        return self._run(X, grow=False, progress=None)

    def extend(
        self, X: NDArray[np.floating], progress: Progress | None = None
    ) -> tuple[Labels, Floats]:
        """Assign rows like :meth:`assign`, and open new centers for the rows that have none."""
        return self._run(X, grow=True, progress=progress)

    def _run(
        self, X: NDArray[np.floating], *, grow: bool, progress: Progress | None
    ) -> tuple[Labels, Floats]:
        labels, squared = [], []
        start = 0
        with workers(self._n_threads) as run:
            while start < len(X):
                batch = self._new_batch(X[start : start + self._next_batch_size()])
                self._find(batch, run)
                if grow:
                    self._open(batch)
                labels.append(batch.labels)
                squared.append(batch.squared)
                start += len(batch.X)
                if progress is not None:
                    progress(start, self.n_centers)
        return _concatenate(labels, np.intp), _concatenate(squared, np.float64)

    def _next_batch_size(self) -> int:
        """Return a batch size that limits the sequential work of opening centers."""
        if self._batch_rows is not None:
            return self._batch_rows
        to_open = max(256, self.n_centers // 32) / max(self._open_share, 1e-3)
        return int(np.clip(to_open, 512, max(512, 2**20 // self.n_features)))

    def _new_batch(self, X: NDArray[np.floating]) -> _Batch:
        from .compiled import read_only

        rows: Floats = read_only(X, np.float64)
        if self._origin is None:
            with np.errstate(over="ignore"):
                self._origin = np.median(rows[:1024:32], axis=0)  # an approximation suffices
        # Zeros pad the width to a multiple of four.
        new = np.empty if self._width == self.n_features else np.zeros
        X32 = new((len(X), self._width), dtype=np.float32)
        norms, limits = np.empty((2, len(X)), dtype=np.float32)
        labels = np.full(len(X), -1, dtype=np.intp)
        return _Batch(rows, X32, norms, limits, labels, np.zeros(len(X)))

    def _scale_rows(self, batch: _Batch) -> None:
        """Compute the scaled rows, their norms and their limits."""
        from .compiled import scale_rows
        from .compiled_cover import set_limits

        squares = np.empty(len(batch.X))
        scale_rows(batch.X, self._origin, self._scale, batch.X32, squares)
        set_limits(squares, _U32, *self._search.rounding(self.n_features), _TRUSTED_NORM,
                   batch.norms, batch.limits)  # fmt: skip

    def _find(self, batch: _Batch, run: Map) -> None:
        """Find the first existing center of each row, in parallel."""
        if isinstance(self._search, _TileSearch) and self._search.balls_due:
            sample = batch.sample(256)
            self._scale_rows(sample)
            self._search.try_balls(sample, self._centers.data)
        size = int(np.clip(len(batch.X) // 4, 256, 8192))
        run(self._find_part, [batch.take(rows) for rows in slices(0, len(batch.X), size)])

    def _find_part(self, part: _Batch) -> None:
        self._scale_rows(part)
        if self.n_centers:
            self._search.search(part, self._centers.data)

    def _open(self, batch: _Batch) -> None:
        """Open new centers for the rows that have none, in row order."""
        from .compiled_cover import open_centers

        missing = int(np.count_nonzero(batch.labels < 0))
        self._open_share = missing / len(batch.X)
        if missing == 0:
            return
        opened = np.empty(missing, dtype=np.intp)
        C = np.empty((missing, self.n_features))
        tiles = np.full((_n_tiles(missing), self._width, LANES), np.inf, dtype=np.float32)
        n_opened = open_centers(
            batch.X, batch.X32, batch.limits, self._search.squared_radius, self.n_centers,
            batch.labels, batch.squared, opened, C, tiles,
        )  # fmt: skip
        self._append(batch, opened[:n_opened])

    def _append(self, batch: _Batch, rows: Labels) -> None:
        """Append the given rows of the batch to the centers."""
        first = self.n_centers
        centers = self._centers.reserve(first + len(rows))
        centers[first : first + len(rows)] = batch.X[rows]
        self._search.append(batch.X32[rows], centers)


def _concatenate(parts: list[NDArray[Any]], dtype: type) -> NDArray[Any]:
    return np.concatenate(parts) if parts else np.empty(0, dtype=dtype)
