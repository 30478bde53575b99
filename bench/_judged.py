"""A run directory judged by chaosk in a process of its own, by every rule or by those of the five questions alone.

``python bench/_judged.py RUN_DIR [--five] [--parts] [--again]``. With ``--parts`` one line of JSON with what it spends
on each of its parts, asked in turn; with ``--again`` the seconds of a second judgement in the same, warm session. The
questions are those that ``bench/_questions.py`` asks DuckDB.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from analysis import cpu
from pyspark.sql import SparkSession

from chaosk.analysis.activity import activity
from chaosk.analysis.analyze import analyze
from chaosk.analysis.case import Case
from chaosk.analysis.case_loader import read_case
from chaosk.analysis.check_runner import ask, checks
from chaosk.analysis.events import Events
from chaosk.analysis.screens import screened
from chaosk.analysis.self_check import recounted
from chaosk.analysis.spark import LARGE, session, tune
from chaosk.rundir.events.store import length
from chaosk.rundir.paths import RunDir

FIVE = ("lost", "duplicate_in_log", "send_order", "produce_unavailability", "latency")
"""The checks that answer them: loss, duplicates, order, unavailability, percentiles of latency."""


def parts(spark: SparkSession, case: Case, names: tuple[str, ...]) -> list[dict[str, Any]]:
    """What one judgement does, one after the other: seconds, and seconds of processor time of the JVM."""
    java: Any = spark._jvm  # noqa: SLF001 - PySpark names no other way to the JVM that it started
    beans = java.java.lang.management.ManagementFactory
    pid = java.java.lang.ProcessHandle.current().pid()

    def so_far() -> tuple[float, float, float, float]:
        collected = sum(bean.getCollectionTime() for bean in beans.getGarbageCollectorMXBeans())
        return time.monotonic(), cpu(pid), beans.getCompilationMXBean().getTotalCompilationTime() / 1e3, collected / 1e3

    events = Events(spark, case)
    tune(spark, small=events.small, rows=events.count)
    todo: dict[str, Callable[[], object]] = {
        "screens": partial(events.once, screened),
        "histograms": partial(events.once, activity),
        **{name: partial(ask, events, name, checks()[name]) for name in names},
        "recounting": partial(recounted, events),
    }
    told = []
    for name, work in todo.items():
        before = so_far()
        work()
        figures = zip(("seconds", "processor", "compiling", "collecting"), before, so_far(), strict=True)
        told.append({"part": name} | {what: round(after - began, 2) for what, began, after in figures})
    events.release()
    return told


def main() -> None:
    """Judge it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path)
    parser.add_argument("--five", action="store_true")
    parser.add_argument("--parts", action="store_true")
    parser.add_argument("--again", action="store_true")
    chosen = parser.parse_args()
    rundir = RunDir(chosen.run)
    kinds = {name: kind for name, kind in checks().items() if not chosen.five or name in FIVE}
    spark = session(large=length(rundir) >= LARGE)
    if chosen.parts:
        print(json.dumps(parts(spark, read_case(rundir), tuple(sorted(kinds)))))
    else:
        analyze(spark, rundir, kinds)
        if chosen.again:
            began = time.monotonic()
            analyze(spark, rundir, kinds)
            print(json.dumps({"again_s": round(time.monotonic() - began, 2)}))
    spark.stop()


if __name__ == "__main__":
    main()
