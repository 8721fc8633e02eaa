"""The compiled walk along a stream whose centers go. Imported late, as it imports numba."""

from __future__ import annotations

from .compiled import _exact, squared_distance


@_exact
def walk(X, first, patience, squared_radius, C, last, n_centers, labels, squared):
    """Each row to the first center within the radius that had a row lately, else a new one.

    Rows are numbered from ``first`` on; ``last`` holds the number of the last row of each center,
    and a center is gone once a row is more than ``patience`` ahead of it. ``C`` and ``last`` have
    room for a center for each row. Returns the number of centers.
    """
    for i in range(X.shape[0]):
        home = n_centers
        for j in range(n_centers):
            if first + i - last[j] > patience:
                continue
            squared[i] = squared_distance(X, i, C, j)
            if squared[i] < squared_radius:
                home = j
                break
        if home == n_centers:
            squared[i] = 0.0
            for k in range(X.shape[1]):
                C[home, k] = X[i, k]
            n_centers += 1
        labels[i] = home
        last[home] = first + i
    return n_centers
