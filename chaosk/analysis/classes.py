"""An archive of the classes that Spark's JVM starts from: read from jars and verified, they take half of its start.

``make`` (the command ``chaosk prepare``) writes it into the user's cache, for one Java and one installed Spark; from
then on ``chaosk.analysis.spark.session`` starts from it. It is the JVM's own (class data sharing, JEP 350), which holds
it against its version and the jars, and does without where anything is not as it was.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pyspark

from chaosk.core.cache import cache
from chaosk.core.errors import AnalysisError

PATIENCE = 300.0
"""Seconds that making one may take: it takes some twenty."""
HOW = "-XX:+VerifySharedSpaces -Xlog:cds*=off -Xlog:class+path*=off"
"""Its checksums are looked at, which takes no time that could be measured. That it no longer fits is no news: it would
be said on stdout, which is for results."""


def place() -> Path:
    """Where the archive for this Java and this Spark is, or would be: a folder, in which it has its size for a name.

    The size is there to be held against: Java 17 dies of an archive that was cut short.
    """
    return cache() / f"spark-{_digest(str(_spark()))}-{_digest(_made_for())}"


def found() -> Path | None:
    """The archive for this Java and this Spark, if there is one that was not cut short."""
    whole = (each for each in place().glob("*.jsa") if each.is_file() and each.stem == str(each.stat().st_size))
    return next(whole, None)


def options() -> str:
    """What the JVM has to be told to start from the archive; nothing where there is none."""
    archive = found()
    return f'"-XX:SharedArchiveFile={archive}" {HOW}' if archive else ""


def make() -> Path:
    """Make it: judge a made-up run, and let the JVM write down what it has loaded. Raises AnalysisError.

    Those for a former Java or Spark of the same place are removed.
    """
    folder = place()
    partial = folder / f"{os.getpid()}.partial"
    words = [sys.executable, "-m", "chaosk.analysis.archiving", str(partial)]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=PATIENCE, check=False)
        if done.returncode or not partial.is_file():
            said = " / ".join((done.stderr + done.stdout).strip().splitlines()[-3:])
            raise AnalysisError(f"Java wrote no archive of classes to {partial}: {said or 'it does not say why'}")
        for former in folder.parent.glob(f"spark-{_digest(str(_spark()))}-*/*.jsa"):
            former.unlink(missing_ok=True)
        return partial.replace(folder / f"{partial.stat().st_size}.jsa")
    except (OSError, subprocess.TimeoutExpired) as error:
        raise AnalysisError(f"{folder}: no archive of classes can be made: {error}") from error
    finally:
        with suppress(OSError):
            partial.unlink()


def _spark() -> Path:
    return Path(os.environ.get("SPARK_HOME") or Path(pyspark.__file__).parent).resolve()


def _made_for() -> str:
    """Which Java and which jars, as far as their files tell."""
    home = os.environ.get("JAVA_HOME")
    java = Path(home) / "bin" / "java" if home else Path(shutil.which("java") or "java")
    jars = _spark() / "jars"
    files = [java.resolve(), *sorted(jars.glob("*.jar"))]
    return "\n".join(f"{file} {file.stat().st_mtime_ns} {file.stat().st_size}" for file in files if file.is_file())


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]
