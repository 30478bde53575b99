"""Start Spark, judge a made-up run, archive the loaded classes: ``python -m chaosk.analysis.archiving PATH``."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pyspark import SparkContext

from chaosk.analysis.classes import PATIENCE
from chaosk.analysis.spark import session
from chaosk.analysis.warmup import warm_up


def main(path: str) -> None:
    """Create the archive and wait until the JVM has ended, since it writes the archive at its exit."""
    spark = session(java=f'"-XX:ArchiveClassesAtExit={path}"')
    with TemporaryDirectory(prefix="chaosk-warm-up-") as folder:
        warm_up(spark, Path(folder))
    gateway: Any = SparkContext._gateway  # noqa: SLF001 - PySpark names no other way to the process that it started
    spark.stop()
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait(timeout=PATIENCE)


if __name__ == "__main__":
    main(sys.argv[1])
