"""Archive of the classes of Spark's JVM, which saves half of its start: they are otherwise read from jars and verified.

``make`` (the command ``chaosk prepare``) writes it into the user's cache, for one Java and one installed Spark. Then
``chaosk.analysis.spark.session`` starts from it. It is a JVM feature (class data sharing, JEP 350): the JVM checks its
version and the jars, and ignores the archive if anything differs.
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
"""Time-out in seconds for the creation of an archive, which takes about twenty."""
HOW = "-XX:+VerifySharedSpaces -Xlog:cds*=off -Xlog:class+path*=off"
"""Verify checksums, which takes no measurable time. Suppress the message about an archive that does not fit, since it
would be printed on stdout, which is for results."""


def place() -> Path:
    """Return the folder of the archive for this Java and this Spark; the archive's file name is its size.

    The size is checked before use, because Java 17 crashes with a truncated archive.
    """
    return cache() / f"spark-{_digest(str(_spark()))}-{_digest(_made_for())}"


def found() -> Path | None:
    """Return the archive for this Java and this Spark; None if there is none, or if it is truncated."""
    whole = (each for each in place().glob("*.jsa") if each.is_file() and each.stem == str(each.stat().st_size))
    return next(whole, None)


def options() -> str:
    """Return the JVM options to start from the archive; empty if there is none."""
    archive = found()
    return f'"-XX:SharedArchiveFile={archive}" {HOW}' if archive else ""


def make() -> Path:
    """Create the archive: judge a made-up run, and let the JVM save its loaded classes.

    Archives for a former Java or Spark at the same path are removed. Raises AnalysisError.
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
    """Identify Java and the jars by path, size and modification time."""
    home = os.environ.get("JAVA_HOME")
    java = Path(home) / "bin" / "java" if home else Path(shutil.which("java") or "java")
    jars = _spark() / "jars"
    files = [java.resolve(), *sorted(jars.glob("*.jar"))]
    return "\n".join(f"{file} {file.stat().st_mtime_ns} {file.stat().st_size}" for file in files if file.is_file())


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]
