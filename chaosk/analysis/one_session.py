"""One Spark session of a process, started when a check needs it, or in the background before that."""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from pyspark.sql import SparkSession

from chaosk.analysis.spark import session
from chaosk.analysis.warmup import warm_up, worthwhile
from chaosk.core.errors import ExitCode


class OneSession:
    """Call it for the session: it starts Spark at the first call, unless ``prepare`` has."""

    def __init__(self, master: str | None = None, *, large: bool = False) -> None:
        self._master = master
        self._large = large
        self._spark: SparkSession | None = None
        self._error: BaseException | None = None
        self._background: threading.Thread | None = None
        self._made_up: TemporaryDirectory[str] | None = None
        """The run that Spark is warmed up with; it is removed also if the process ends meanwhile."""
        self._hurried = threading.Event()
        self.times: dict[str, float] = {}
        """Seconds that its parts took, of those that were done: ``session``, ``warm_up``."""

    def prepare(self) -> None:
        """Start Spark in the background, and warm it up if processors are idle and there is no run to judge yet."""
        self._background = threading.Thread(target=self._prepare, daemon=True)
        self._background.start()

    def hurry(self) -> None:
        """Begin no warm-up any more: there is a run to judge."""
        self._hurried.set()

    def __call__(self) -> SparkSession:
        """Return the session, when it has started. Raises what the start raises."""
        self.hurry()
        if self._background is not None:
            self._background.join()
            self._background = None
        if self._error is not None:
            raise self._error
        if self._spark is None:
            self._spark = self._started()
        return self._spark

    def settle(self) -> None:
        """Wait until a start in the background is over: it redirects this process's standard output meanwhile."""
        if self._background is not None:
            self._background.join()

    def forget(self) -> None:
        """Release the cached frames of a run, if Spark is running."""
        if self._background is None and self._spark is not None:
            self._spark.catalog.clearCache()

    def stop(self) -> None:
        """Stop the session, if there is one."""
        if self._background is not None or self._spark is not None:
            self().stop()

    def leave(self) -> None:
        """End the process if Spark is still starting: the JVM ends with it, and its start has no further use."""
        if self._background is not None and self._background.is_alive():
            sys.stderr.flush()
            if self._made_up is not None:
                self._made_up.cleanup()
            os._exit(ExitCode.PASS)

    def _prepare(self) -> None:
        try:
            self._spark = self._started()
            if worthwhile() and not self._hurried.is_set():
                began = time.monotonic()
                self._made_up = TemporaryDirectory(prefix="chaosk-warm-up-", ignore_cleanup_errors=True)
                with self._made_up as folder:
                    warm_up(self._spark, Path(folder))
                self.times["warm_up"] = round(time.monotonic() - began, 3)
        except BaseException as error:  # noqa: BLE001 - raised where the session is needed
            self._error = error

    def _started(self) -> SparkSession:
        began = time.monotonic()
        spark = session(self._master, large=self._large)
        self.times["session"] = round(time.monotonic() - began, 3)
        return spark
