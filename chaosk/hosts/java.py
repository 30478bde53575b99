"""Find the Java runtime for Spark and check its version, without loading Spark."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from chaosk.core.errors import PreflightError

LEAST = 17
"""The oldest Java version that Spark supports."""
_WITHIN = 20.0
"""Time-out in seconds for ``java -version``, long enough for a busy machine."""
_VERSION = re.compile(r'version "(?:1\.)?(\d+)')
_TODO = "install a Java 17 runtime (Debian: apt-get install openjdk-17-jre-headless) or set JAVA_HOME"


def problem() -> str | None:
    """Return why Spark has no usable Java, with a remedy; None if it has one."""
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
    """Raise PreflightError if there is no usable Java for Spark."""
    if (why := problem()) is not None:
        raise PreflightError(f"{why}; the analysis runs on Spark")


def _version(java: str) -> int | None:
    """Return the major version of a JVM; None if it cannot be read: Spark then reports the problem itself."""
    try:
        done = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=_WITHIN, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    said = _VERSION.search(done.stderr)
    return int(said[1]) if said else None
