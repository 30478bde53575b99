"""Kafka's jars: resolved by Maven once for each version, then shared by all labs without network access."""

from __future__ import annotations

import errno
import os
import re
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

from chaosk.core.errors import LabError
from chaosk.lab import runner, state

_POM = "http://maven.apache.org/POM/4.0.0"


def major(version: str) -> int:
    """Return the first number of a version, such as 4 of ``4.2.0``."""
    return int(version.partition(".")[0])


def dependencies(version: str) -> tuple[str, ...]:
    """Return the Maven coordinates of Kafka, its tools and its logging: log4j 1 up to 3.x, log4j 2 from 4.0."""
    logging = (
        ("org.slf4j:slf4j-reload4j:1.7.36",)
        if major(version) < 4
        else ("org.apache.logging.log4j:log4j-slf4j-impl:2.24.3", "org.apache.logging.log4j:log4j-core:2.24.3")
    )
    return (f"org.apache.kafka:kafka_2.13:{version}", f"org.apache.kafka:kafka-tools:{version}", *logging)


def ensure(version: str, dependencies: tuple[str, ...], say: Callable[[str], object]) -> Path:
    """Return the directory of Kafka's jars for a version; the first call resolves ``dependencies``. Raises LabError."""
    home = state.state_root() / "kafka"
    at = home / version
    if at.is_dir():
        return at
    runner.directory(home)
    with state.locked(home / f".{version}.lock", lambda: say(f"waiting for another chaosk to resolve Kafka {version}")):
        if not at.is_dir():
            say(f"resolving Kafka {version} with Maven (once)")
            _resolve(at, version, dependencies)
    return at


def _resolve(at: Path, version: str, dependencies: tuple[str, ...]) -> None:
    for leftover in at.parent.glob(f".{version}-*"):
        shutil.rmtree(leftover, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=f".{version}-", dir=at.parent, ignore_cleanup_errors=True) as directory:
        runner.write(Path(directory) / "pom.xml", pom(dependencies))
        _maven(Path(directory), version)
        jars = Path(directory) / "jars"
        jars.chmod(0o755)
        jars.rename(at)


def _maven(directory: Path, version: str) -> None:
    argv = [
        # Maven dies with the thread that started it, so that a killed `lab up` leaves no process
        *("setpriv", "--pdeathsig", "KILL", str(runner.find("mvn"))),
        *("--batch-mode", "--quiet", "--file", str(directory / "pom.xml")),
        # -U: otherwise Maven caches a failed lookup for a day
        *("-U", "-Dstyle.color=never", "dependency:copy-dependencies", f"-DoutputDirectory={directory / 'jars'}"),
    ]
    kept = {name: value for name, value in os.environ.items() if _is_mavens(name)}
    done = runner.attempt(argv, timeout=900, environment=kept)
    if done.returncode != 0:
        raise LabError(explain(version, done.stdout + done.stderr))


def _is_mavens(variable: str) -> bool:
    return variable in {"HOME", "JAVA_HOME"} or "PROXY" in variable.upper() or variable.startswith(("MAVEN_", "M2_"))


def explain(version: str, output: str) -> str:
    """Return one sentence from Maven's output."""
    if "No space left on device" in output:
        return f"Kafka {version}: {os.strerror(errno.ENOSPC)} while its jars were resolved; free some space"
    if re.search(r"Could not find artifact org\.apache\.kafka:|org\.apache\.kafka:\S+ was not found in", output):
        return f"Kafka {version} is not in the Maven repository; take a released version, for example 3.9.2"
    first = next((line for line in output.splitlines() if "ERROR" in line), output.strip() or "no output")
    return f"Kafka {version}: Maven cannot resolve the jars: {first.removeprefix('[ERROR]').strip()}"


def pom(dependencies: tuple[str, ...]) -> str:
    """Return a Maven project with these dependencies alone, ``group:artifact:version`` each."""
    project = ET.Element("project", xmlns=_POM)
    head = {"modelVersion": "4.0.0", "groupId": "chaosk", "artifactId": "lab", "version": "1", "packaging": "pom"}
    for name, text in head.items():
        ET.SubElement(project, name).text = text
    listed = ET.SubElement(project, "dependencies")
    for coordinates in dependencies:
        entry = ET.SubElement(listed, "dependency")
        for name, text in zip(("groupId", "artifactId", "version"), coordinates.split(":"), strict=True):
            ET.SubElement(entry, name).text = text
    return ET.tostring(project, encoding="unicode") + "\n"
