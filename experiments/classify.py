"""Figures 4, 5, 7 and 8: 3-nearest-neighbour classification of embedded data."""

from __future__ import annotations

from sklearn.neighbors import KNeighborsClassifier

from .data.dataset import Floats, Labels

NEIGHBOURS = 3


def accuracy(train: Floats, train_labels: Labels, test: Floats, test_labels: Labels) -> float:
    """The share of test rows whose class the three nearest training rows find."""
    model = KNeighborsClassifier(NEIGHBOURS).fit(train, train_labels)
    return float(model.score(test, test_labels))
