"""Analysis as a process: start Spark in the background, wait for the request, judge, print durations."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import click
from pydantic import ValidationError

from chaosk.analysis.analyze import analyze
from chaosk.analysis.one_session import OneSession
from chaosk.analysis.spark import LARGE
from chaosk.core import priority
from chaosk.core.errors import AnalysisError, ChaoskError, ExitCode
from chaosk.rundir.events.store import close, length, restore
from chaosk.rundir.paths import RunDir, document, existing
from chaosk.rundir.record import RunRecord
from chaosk.rundir.verdict import Verdict


def judge(root: Path, master: str | None = None) -> Verdict:
    """Judge the run directory at ``root`` in this process.

    Raises UsageError if it is no run directory, and AnalysisError if it cannot be judged.
    """
    rundir = existing(root)
    close_events(rundir)
    spark = OneSession(master, large=length(rundir) >= LARGE)
    try:
        return analyze(spark, rundir)
    finally:
        spark.stop()


def close_events(rundir: RunDir) -> None:
    """Convert the live streams of a run that did not finish to tables, unless there are tables already.

    If the run has counts of its rows, single missing tables are restored as far as possible.
    """
    if rundir.live.is_dir() and not any(rundir.events.glob("*.parquet")):
        close(rundir)
    elif _counted(rundir):
        restore(rundir)


def _counted(rundir: RunDir) -> bool:
    """Return True if ``run.json`` has the number of rows written to each table."""
    try:
        return RunRecord.model_validate_json(document(rundir.run)).streams is not None
    except (OSError, ValidationError):
        return False  # reported when it is read for judging


@click.command()
@click.argument("root", type=click.Path(path_type=Path))
@click.option("--master", help="Spark master; default: your Spark configuration, or this machine.")
@click.option("--wait", is_flag=True, help="Start Spark, and wait for a line on stdin before judging.")
@click.option("--until", type=int, help="End when this process, which started it, has ended.")
def command(root: Path, master: str | None, *, wait: bool, until: int | None) -> None:
    """Judge ROOT, a run directory."""
    times: dict[str, float] = {}
    if until is not None:
        threading.Thread(target=_leave_with, args=(until,), daemon=True).start()
    rundir = existing(root)
    answer = os.fdopen(os.dup(1), "w")  # Spark's start redirects standard output, and may be under way at the end
    if wait:
        spark = OneSession(master)
        spark.prepare()
        with timed(times, "waited"):
            told = sys.stdin.readline()
        spark.hurry()
        priority.resume()
        if not told:
            raise AnalysisError("stdin was closed before there was anything to judge")
        close_events(rundir)
        if length(rundir) >= LARGE:
            spark.settle()
            _again_from_the_start(rundir, master, until)
    else:
        close_events(rundir)
        spark = OneSession(master, large=length(rundir) >= LARGE)
    with timed(times, "judge"):
        verdict = analyze(spark, rundir)
    times |= spark.times
    click.echo(", ".join(f"{part} {seconds:.1f} s" for part, seconds in times.items()), err=True)
    with answer:
        answer.write(json.dumps({"verdict": str(rundir.verdict), "outcome": verdict.verdict, "seconds": times}) + "\n")
    spark.leave()


def _leave_with(parent: int) -> None:
    """Exit when the parent has ended for any reason; the JVM exits when its standard input closes."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(ExitCode.INTERRUPTED)


def _again_from_the_start(rundir: RunDir, master: str | None, until: int | None) -> NoReturn:
    """Replace this process by one for a large run, under the same id: its JVM needs other start options.

    The JVM that waited exits, as its standard input closes with this process's files. Its few seconds are negligible
    compared with a large run, and the size of a run is not known in advance.
    """
    words = [*(["--master", master] if master else []), *(["--until", str(until)] if until is not None else [])]
    os.execv(sys.executable, [sys.executable, "-m", "chaosk.analysis", str(rundir.root), *words])  # noqa: S606


@contextmanager
def timed(times: dict[str, float], name: str) -> Iterator[None]:
    """Record the duration of a block in seconds."""
    began = time.monotonic()
    try:
        yield
    finally:
        times[name] = round(time.monotonic() - began, 3)


def main() -> int:
    """Run the command line; return the exit code."""
    try:
        command.main(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return ExitCode.USAGE
    except ChaoskError as error:
        sys.stderr.write(f"chaosk.analysis: {error}\n")
        return error.exit_code
    return ExitCode.PASS
