"""Kafka's jars: the project for Maven, its complaints in one sentence, the cache."""

from __future__ import annotations

import threading
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosk.core.errors import LabError
from chaosk.lab import jars, runner

NAMES = {"m": "http://maven.apache.org/POM/4.0.0"}
REMEMBERED = (
    "[ERROR] Failed to execute goal on project lab: Could not resolve dependencies for project chaosk:lab:pom:1: "
    "org.apache.kafka:kafka_2.13:jar:3.9.99 was not found in https://example.org/maven2 during a previous attempt.\n"
)
NOT_FOUND = (
    "[ERROR] Failed to execute goal on project lab: Could not resolve dependencies for project chaosk:lab:pom:1: "
    "The following artifacts could not be resolved: org.apache.kafka:kafka_2.13:jar:3.9.99: "
    "Could not find artifact org.apache.kafka:kafka_2.13:jar:3.9.99 in central -> [Help 1]\n[ERROR]\n"
)


def test_pom_lists_the_dependencies() -> None:
    """Each coordinate becomes a dependency of a project that Maven can read."""
    project = ET.fromstring(jars.pom(("g:a:1", "h:b:2")))  # noqa: S314 - our own text
    found = [[part.text for part in one] for one in project.findall("m:dependencies/m:dependency", NAMES)]
    assert found == [["g", "a", "1"], ["h", "b", "2"]]
    assert project.findtext("m:modelVersion", None, NAMES) == "4.0.0"


@given(st.text("<>&\"'ab1.-", min_size=1))
def test_pom_cannot_be_broken_out_of(version: str) -> None:
    """Whatever a version contains, it stays one text in one place."""
    project = ET.fromstring(jars.pom((f"g:a:{version}",)))  # noqa: S314 - our own text
    assert project.findtext("m:dependencies/m:dependency/m:version", None, NAMES) == version


@pytest.mark.parametrize("output", [NOT_FOUND, REMEMBERED])
def test_an_unknown_version_is_said_so(output: str) -> None:
    """Maven's page of text becomes the sentence a user can act on."""
    assert jars.explain("3.9.99", output).startswith("Kafka 3.9.99 is not in the Maven repository; take a released")


def test_a_full_disk_is_said_so() -> None:
    """A disk without room is not reported as a problem of Maven."""
    assert "No space left on device" in jars.explain("3.9.2", "java.io.IOException: No space left on device")


@pytest.mark.parametrize("output", ["[ERROR] Unknown host repo", "it broke", ""])
def test_other_failures_keep_mavens_words(output: str) -> None:
    """What we do not know is passed on, never empty."""
    found = jars.explain("3.9.2", output)
    assert found.startswith("Kafka 3.9.2: Maven cannot resolve the jars: ")
    assert not found.endswith(": ")


def test_a_cached_version_needs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the directory there, neither Maven nor the network is asked: there is none on the path."""
    monkeypatch.setenv("CHAOSK_STATE", str(tmp_path))
    monkeypatch.setenv("PATH", "/nowhere")
    (tmp_path / "kafka" / "1.2.3").mkdir(parents=True)
    assert jars.ensure("1.2.3", ("g:a:1",), pytest.fail) == tmp_path / "kafka" / "1.2.3"


def test_without_maven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names the package; no half-made directory stays."""
    monkeypatch.setenv("CHAOSK_STATE", str(tmp_path))
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(runner, "PATH", "/nowhere")
    with pytest.raises(LabError, match="mvn is not installed; do: apt-get install maven"):
        jars.ensure("1.2.3", ("g:a:1",), lambda _line: None)
    assert list((tmp_path / "kafka").iterdir()) == []


@pytest.mark.lab
def test_resolving_is_atomic_and_happens_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two at once: one resolves, the other waits; a leftover of a killed one is cleared; the jars are all there."""
    monkeypatch.setenv("CHAOSK_STATE", str(tmp_path))
    (tmp_path / "kafka" / ".3.9.2-killed").mkdir(parents=True)
    wanted = jars.dependencies("3.9.2")
    said: list[str] = []
    threads = [threading.Thread(target=jars.ensure, args=("3.9.2", wanted, said.append)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [path.name for path in (tmp_path / "kafka").iterdir()] == ["3.9.2"]
    assert said.count("resolving Kafka 3.9.2 with Maven (once)") == 1
    found = {path.name for path in (tmp_path / "kafka" / "3.9.2").glob("*.jar")}
    assert {"kafka_2.13-3.9.2.jar", "kafka-tools-3.9.2.jar", "zookeeper-3.8.4.jar"} <= found


@pytest.mark.lab
def test_a_version_that_does_not_exist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The real Maven's answer is recognised, and nothing is cached for next time."""
    monkeypatch.setenv("CHAOSK_STATE", str(tmp_path))
    with pytest.raises(LabError, match=r"Kafka 3\.9\.99 is not in the Maven repository"):
        jars.ensure("3.9.99", ("org.apache.kafka:kafka_2.13:3.9.99",), lambda _line: None)
    assert list((tmp_path / "kafka").iterdir()) == []


def test_dependencies_carry_the_version() -> None:
    """Kafka's jars are of the version asked for; the logging binding is the one that version speaks to."""
    kafka, tools, logging = jars.dependencies("3.9.1")
    assert (kafka, tools) == ("org.apache.kafka:kafka_2.13:3.9.1", "org.apache.kafka:kafka-tools:3.9.1")
    assert logging.startswith("org.slf4j:slf4j-reload4j:")
    kafka, tools, *logging_2 = jars.dependencies("4.2.0")
    assert (kafka, tools) == ("org.apache.kafka:kafka_2.13:4.2.0", "org.apache.kafka:kafka-tools:4.2.0")
    assert [one.rpartition(":")[0] for one in logging_2] == [
        "org.apache.logging.log4j:log4j-slf4j-impl",
        "org.apache.logging.log4j:log4j-core",
    ]
