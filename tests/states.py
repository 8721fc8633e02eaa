"""What a model has learnt, as bytes, to show that a refused call changed nothing."""

import pickle


def fitted_state(model) -> bytes:
    learnt = {k: v for k, v in vars(model).items() if k.endswith("_") and k != "_cover_"}
    return pickle.dumps(learnt)
