"""Tasks that the dashboard shows by stage, and a tree that is the same for any workers."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any
from uuid import uuid4

# Covers that meet at one node: each level of the tree adds up to one epsilon to the radius.
FAN = 8

POLL = 1.0  # seconds between two looks at whether there are workers


def imported() -> Any:
    """Dask, or an error that says how to get it."""
    try:
        import dask
    except ImportError as error:
        raise ImportError('rskpca.scaling.dask needs Dask: pip install "rskpca[dask]".') from error
    return dask


class Stages:
    """Makes the tasks of one fit, all of them pure, and waits for answers.

    ``patience`` is how many seconds to wait while a cluster has no worker.
    """

    def __init__(self, patience: float) -> None:
        self.patience = patience
        self._run = uuid4().hex
        self._made = 0

    def constant(self, name: str, value: Any) -> Any:
        """A value that tasks share, as one node of the graph: it travels once a worker."""
        return imported().delayed(value, name=self._key(name), traverse=False)

    def task(self, stage: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """A call that runs when an answer is asked for."""
        call = imported().delayed(function, pure=False, traverse=False)
        return call(*arguments, dask_key_name=self._key(stage))

    def tree(self, stage: str, merge: Callable[[list[Any]], Any], tasks: Sequence[Any]) -> Any:
        """One task from many: neighbours meet first, in their order."""
        while len(tasks) > 1:
            groups = [list(tasks[i : i + FAN]) for i in range(0, len(tasks), FAN)]
            tasks = [self.task(stage, merge, group) for group in groups]
        return tasks[0]

    def answer(self, task: Any) -> Any:
        """Compute a task on the scheduler that Dask would use now."""
        client = _client()
        if client is None:
            return task.compute()
        future = client.compute(task)
        try:
            return self._awaited(client, future)
        finally:
            future.cancel()

    def _awaited(self, client: Any, future: Any) -> Any:
        deserted = None
        while True:
            try:
                return future.result(timeout=POLL)
            except TimeoutError:
                if future.status == "error":  # the task's own, which may have come just now
                    return future.result()
            if client.nthreads():
                deserted = None
                continue
            deserted = deserted or time.monotonic()
            if time.monotonic() - deserted > self.patience:
                raise RuntimeError(
                    f"the cluster has had no worker for {self.patience:g} seconds; start workers "
                    "and fit again, or raise patience where they take longer to come. The "
                    "estimator was not changed."
                )

    def _key(self, stage: str) -> str:
        self._made += 1
        return f"rskpca-{stage}-{self._run}-{self._made}"


def _client() -> Any:
    """The client of the cluster that Dask would use now; None for schedulers on this machine."""
    from dask.base import get_scheduler

    owner = getattr(get_scheduler(), "__self__", None)
    return owner if hasattr(owner, "nthreads") else None
