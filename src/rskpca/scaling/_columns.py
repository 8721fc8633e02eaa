"""Whether the columns of a source are those of a model."""

from __future__ import annotations

from typing import Any

from ..data import Source


def check_columns(model: Any, source: Source) -> None:
    """The columns of the source are those that the model was fitted to, in their order."""
    if source.n_features != model.n_features_in_:
        raise ValueError(
            f"{source.name} has {source.n_features} features, but the model was fitted to "
            f"{model.n_features_in_}; name them with open_source(..., columns=...)."
        )
    fitted = getattr(model, "feature_names_in_", None)
    if fitted is None or source.feature_names is None:
        return
    for own, wanted in zip(source.feature_names, fitted, strict=True):
        if own != wanted:
            raise ValueError(
                f"{source.name} has the column {own!r} where the model was fitted to {wanted!r}; "
                "give open_source(..., columns=model.feature_names_in_)."
            )
