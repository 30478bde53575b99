"""Runs chosen tests again and again in this process, with the one Spark session that they share."""

from __future__ import annotations

import inspect
import io
import os
import sys
import tempfile
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from threading import Timer

import pytest
from _pytest.runner import runtestprotocol
from pyspark import SparkContext
from pyspark.sql import SparkSession

HERE = Path(__file__).parent
ROOT = HERE.parent
ARGUMENTS = (
    "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-o", "tmp_path_retention_policy=none",
    "--rootdir", str(ROOT), str(ROOT / "tests" / "analysis"),
)  # fmt: skip
BROAD = 3
"""A file that proves at most so many checks is their own: its other tests are about them too."""


class Warm:
    """A plugin of pytest that calls ``work`` instead of running all tests; ``work`` says which to run, and when."""

    def __init__(self, work: Callable[[Warm], None], limit: float) -> None:
        self.work, self.limit = work, limit
        self.items: list[pytest.Item] = []
        self.failure: BaseException | None = None

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Do the work; what it raises is kept for ``run``."""
        self.items = session.items
        try:
            self.work(self)
        except BaseException as error:  # noqa: BLE001 - pytest would swallow what is not its own
            self.failure = error
        finally:
            session._setupstate.teardown_exact(None)  # noqa: SLF001 - as after the last test: stops Spark
        return True

    def of(self, check: str) -> list[pytest.Item]:
        """The tests of a check: those that say they prove it, those that name it, the others of its own files."""
        proofs = [item for item in self.items if check in proven(item)]
        files: dict[Path, set[str]] = {}
        for item in self.items:
            files.setdefault(item.path, set()).update(proven(item))
        own = {path for path, names in files.items() if check in names and len(names) <= BROAD}
        named = [item for item in self.items if item not in proofs and _names(item, check)]
        rest = [item for item in self.items if item.path in own and item not in [*proofs, *named] and not proven(item)]
        return [*proofs, *named, *rest]

    def fails(self, item: pytest.Item) -> str:
        """Run one test; why it failed, ``time`` if it took longer than the limit, empty if it passed.

        Raises RuntimeError if it was skipped or could not be set up: then it would show nothing of any mutant.
        """
        late: list[bool] = []
        timer = Timer(self.limit, _stop_jobs, [late])
        timer.start()
        try:
            # a test of another file is said to follow: what the session shares stays, what a file does is made anew
            elsewhere = next(each for each in self.items if each.path != item.path)
            item.session._setupstate.teardown_exact(item)  # noqa: SLF001 - of the folder that it was said to be in
            reports = runtestprotocol(item, log=False, nextitem=elsewhere)
        finally:
            timer.cancel()
            _clean()
        for report in reports:
            if report.skipped or (report.failed and report.when != "call"):
                raise RuntimeError(f"{item.nodeid}: {report.when} {report.outcome}: {report.longrepr}")
        failed = [report for report in reports if report.failed]
        if not failed:
            return ""
        return "time" if late else (str(failed[0].longrepr).strip().splitlines() or ["?"])[-1]


def proven(item: pytest.Item) -> set[str]:
    """The checks that a test says it proves."""
    return {str(mark.args[0]) for mark in item.iter_markers("proves")}


def _names(item: pytest.Item, check: str) -> bool:
    """Whether a test looks at what the check found, is given its name, or its file is named after it."""
    if not isinstance(item, pytest.Function) or item.path.stem == f"test_{check}":
        return item.path.stem == f"test_{check}"
    arguments = item.callspec.params.values() if hasattr(item, "callspec") else ()
    return any(each == check for each in arguments) or f'"{check}' in inspect.getsource(item.function)


def _stop_jobs(late: list[bool]) -> None:
    late.append(True)
    if (context := SparkContext._active_spark_context) is not None:  # noqa: SLF001 - a timer's thread has no session
        context.cancelAllJobs()


def _clean() -> None:
    """Forget what Spark keeps: a test that failed may not have let go of its frames."""
    if (spark := SparkSession.getActiveSession()) is not None:
        spark.catalog.clearCache()


def run(work: Callable[[Warm], None], limit: float = 120.0) -> None:
    """Collect the tests of the analysis and call ``work`` with them; raises what it raised."""
    folder, path = Path.cwd(), list(sys.path)
    os.chdir(ROOT)
    sys.path[:] = [each for each in path if Path(each) != HERE]  # a benchmark has the name of a folder of tests
    warm = Warm(work, limit)
    said = io.StringIO()
    try:
        # a folder of its own: the one that all sessions share is cleared by any that begins meanwhile
        with tempfile.TemporaryDirectory() as base, redirect_stdout(said), redirect_stderr(said):
            code = pytest.main([*ARGUMENTS, "--basetemp", f"{base}/tests"], plugins=[warm])
    finally:
        os.chdir(folder)
        sys.path[:] = path
    if warm.failure is not None:
        raise warm.failure
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED) or not warm.items:
        raise SystemExit(f"the tests cannot be collected: {said.getvalue()[-2000:]}")
