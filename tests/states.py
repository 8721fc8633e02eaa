"""Fitted state as bytes, for testing that a rejected call leaves a model unchanged."""

import pickle


def fitted_state(model) -> bytes:
    """Return the fitted attributes of a model as pickled bytes."""
    fitted = {k: v for k, v in vars(model).items() if k.endswith("_") and k != "_cover_"}
    return pickle.dumps(fitted)
