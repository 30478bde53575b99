"""The scripts in /opt/kafka/bin."""

from __future__ import annotations

import subprocess
import zipfile
from pathlib import Path

import pytest

from chaosk.lab import jars, launchers
from chaosk.lab.launchers import Control
from chaosk.lab.logfiles import LOG4J_1, LOG4J_2, Logging
from chaosk.lab.service import HostFile
from chaosk.spec.lab_layout import LabLayout


def broker(logging: Logging, cluster: str | None = None) -> dict[str, str]:
    """By name the files that control a broker."""
    control = Control("kafka", "kafka.Kafka", "server.properties", "1m", "/var/log/x.log", logging, cluster)
    return {Path(file.path).name: file.text for file in control.files()}


SCRIPTS = {
    f"{Path(file.path).name} {kind}": file
    for kind, files in {
        "3": (*launchers.tools("3.9.2"), *Control("kafka", "kafka.Kafka", "c", "1m", "/log", LOG4J_1).files()),
        "4": (*launchers.tools("4.2.0"), *Control("kafka", "kafka.Kafka", "c", "1m", "/log", LOG4J_2, "ID").files()),
    }.items()
    for file in files
    if file.path.startswith(launchers.BIN)
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_scripts_are_shell(script: HostFile) -> None:
    """Each script is executable and the shell can read all of it."""
    assert script.mode == 0o755
    assert script.text.startswith("#!/bin/sh\n")
    checked = subprocess.run(["sh", "-n"], input=script.text, text=True, capture_output=True, check=False)
    assert (checked.returncode, checked.stderr) == (0, "")


def test_tools_have_their_usual_names() -> None:
    """The tools that steps and operators call by name are there."""
    names = {Path(file.path).name for file in launchers.tools("3.9.2") if file.path.endswith(".sh")}
    wanted = "topics dump-log leader-election reassign-partitions transactions consumer-groups configs log-dirs storage"
    assert names >= {f"kafka-{tool}.sh" for tool in wanted.split()} | {"zookeeper-shell.sh"}
    later = {Path(file.path).name for file in launchers.tools("4.2.0") if file.path.endswith(".sh")}
    assert names - later == {"zookeeper-shell.sh"}


def test_a_tool_runs_its_class_with_all_its_arguments() -> None:
    """A launcher hands its arguments on untouched."""
    topics = next(file for file in launchers.tools("3.9.2") if file.path.endswith("kafka-topics.sh"))
    assert topics.text.endswith('kafka-run-class.sh org.apache.kafka.tools.TopicCommand "$@"\n')


def test_a_service_logs_to_its_file() -> None:
    """Without a file for log4j Kafka logs nothing: the log is evidence."""
    one, two = broker(LOG4J_1), broker(LOG4J_2)
    assert "log4j.appender.file.File=/var/log/x.log\n" in one["kafka-log4j.properties"]
    assert "-Dlog4j.configuration=file:/opt/kafka/config/kafka-log4j.properties\n" in one["kafka-start"]
    assert "appender.file.fileName=/var/log/x.log\n" in two["kafka-log4j2.properties"]
    assert "-Dlog4j2.configurationFile=/opt/kafka/config/kafka-log4j2.properties\n" in two["kafka-start"]


def test_only_kraft_formats() -> None:
    """A data directory is formatted before the first start in KRaft; with ZooKeeper there is nothing to format."""
    assert "--cluster-id ID --config /opt/kafka/config/server.properties" in broker(LOG4J_2, "ID")["kafka-start"]
    assert "format" not in broker(LOG4J_1)["kafka-start"]


ZOOKEEPER = "org.apache.zookeeper.server.quorum.QuorumPeerMain"


@pytest.mark.lab
@pytest.mark.parametrize(
    ("version", "more"),
    [(LabLayout().kafka, [*launchers.TOOLS.values(), ZOOKEEPER]), ("4.2.0", [*launchers.TOOLS_4.values()])],
)
def test_every_main_class_is_in_the_jars(version: str, more: list[str]) -> None:
    """No launcher names a class this Kafka does not have."""
    home = jars.ensure(version, jars.dependencies(version), print)
    classes = {name for jar in home.glob("*.jar") for name in zipfile.ZipFile(jar).namelist()}
    wanted = [*more, "kafka.Kafka", "kafka.tools.StorageTool"]
    assert [main for main in wanted if main.replace(".", "/") + ".class" not in classes] == []
