"""The Java that Spark runs on: where it is, and whether it is new enough. Nothing of Spark is loaded for that."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from chaosk.core.errors import PreflightError

LEAST = 17
"""The oldest version that Spark runs on."""
_WITHIN = 20.0
"""Seconds for a JVM to say which one it is; on a busy machine it takes some."""
_VERSION = re.compile(r'version "(?:1\.)?(\d+)')
_TODO = "install a Java 17 runtime (Debian: apt-get install openjdk-17-jre-headless) or set JAVA_HOME"


def problem() -> str | None:
    """What keeps Spark from its Java, with what to do; None if nothing does."""
    home = os.environ.get("JAVA_HOME")
    if home and not (Path(home) / "bin" / "java").is_file():
        return f"JAVA_HOME is {home}, where there is no bin/java; {_TODO}"
    found = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if found is None:
        return f"there is no java on the PATH; {_TODO}"
    version = _version(found)
    if version is not None and version < LEAST:
        return f"{found} is Java {version}, and Spark needs {LEAST} or newer; {_TODO}"
    return None


def require_java() -> None:
    """Raises PreflightError where there is no Java to run Spark on."""
    if (why := problem()) is not None:
        raise PreflightError(f"{why}; the analysis runs on Spark")


def _version(java: str) -> int | None:
    """The major version that a JVM calls itself; None if it says nothing that can be read, which Spark will tell."""
    try:
        done = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=_WITHIN, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    said = _VERSION.search(done.stderr)
    return int(said[1]) if said else None
