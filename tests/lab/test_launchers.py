"""The scripts in /opt/kafka/bin."""

from __future__ import annotations

import subprocess
import zipfile
from pathlib import Path

import pytest

from chaosk.inventory import LabLayout
from chaosk.lab import jars, launchers, mode
from chaosk.lab.service import HostFile

SCRIPTS = [
    file
    for file in (*launchers.tools(), *launchers.control("kafka", "kafka.Kafka", "server.properties", "1m", "/log"))
    if file.path.startswith(launchers.BIN)
]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: Path(script.path).name)
def test_scripts_are_shell(script: HostFile) -> None:
    """Each script is executable and the shell can read all of it."""
    assert script.mode == 0o755
    assert script.text.startswith("#!/bin/sh\n")
    checked = subprocess.run(["sh", "-n"], input=script.text, text=True, capture_output=True, check=False)
    assert (checked.returncode, checked.stderr) == (0, "")


def test_tools_have_their_usual_names() -> None:
    """The tools that steps and operators call by name are there."""
    names = {Path(file.path).name for file in launchers.tools()}
    wanted = "topics dump-log leader-election reassign-partitions transactions consumer-groups configs log-dirs"
    assert names >= {f"kafka-{tool}.sh" for tool in wanted.split()} | {"zookeeper-shell.sh"}


def test_a_tool_runs_its_class_with_all_its_arguments() -> None:
    """A launcher hands its arguments on untouched."""
    topics = next(file for file in launchers.tools() if file.path.endswith("kafka-topics.sh"))
    assert topics.text.endswith('kafka-run-class.sh org.apache.kafka.tools.TopicCommand "$@"\n')


def test_a_service_logs_to_its_file() -> None:
    """Without a log4j file Kafka logs nothing: the log is evidence."""
    files = {Path(file.path).name: file.text for file in launchers.control("kafka", "M", "c", "1m", "/var/log/x.log")}
    assert "log4j.appender.file.File=/var/log/x.log\n" in files["kafka-log4j.properties"]
    assert "kafka-log4j.properties" in files["kafka-start"]


@pytest.mark.lab
def test_every_main_class_is_in_the_jars() -> None:
    """No launcher names a class this Kafka does not have."""
    layout = LabLayout()
    home = jars.ensure(layout.kafka, mode.mode_of(layout).dependencies(layout), print)
    classes = {name for jar in home.glob("*.jar") for name in zipfile.ZipFile(jar).namelist()}
    wanted = [*launchers.TOOLS.values(), "kafka.Kafka", "org.apache.zookeeper.server.quorum.QuorumPeerMain"]
    assert [main for main in wanted if main.replace(".", "/") + ".class" not in classes] == []
