"""Local clusters of worker processes, and a plugin that kills workers at a given stage."""

import logging
import os
import signal
from contextlib import contextmanager

import dask
from distributed import Client, LocalCluster, WorkerPlugin
from distributed.utils import get_mp_context

FORKED = {"distributed.worker.multiprocessing-method": "forkserver"}
PRELOADED = ["distributed", "rskpca.scaling.dask", "rskpca._core.compiled_cover"]


@contextmanager
def cluster(n_workers):
    """Start worker processes with one thread each and yield a client.

    Workers are forked from a process that has already imported the packages, because importing them
    takes several seconds per worker.
    """
    with dask.config.set(FORKED):
        get_mp_context().set_forkserver_preload(PRELOADED)  # replaces the list set by Dask
        with (
            LocalCluster(
                n_workers=n_workers,
                threads_per_worker=1,
                processes=True,
                dashboard_address=":0",
                silence_logs=logging.CRITICAL,
            ) as workers,
            Client(workers) as client,
        ):
            yield client


class Killer(WorkerPlugin):
    """Plugin that kills the first ``victims`` workers that start a task in a given stage."""

    def __init__(self, stage, folder, victims=1):
        self.prefix, self.folder, self.victims = f"rskpca-{stage}-", str(folder), victims

    def transition(self, key, start, finish, **more):
        if finish == "executing" and str(key).startswith(self.prefix) and self._first_to_mark():
            os.kill(os.getpid(), signal.SIGKILL)

    def _first_to_mark(self):
        """Return True if another worker may be killed; each kill creates a file."""
        for victim in range(self.victims):
            try:
                os.close(os.open(f"{self.folder}/{victim}", os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                continue
            return True
        return False
