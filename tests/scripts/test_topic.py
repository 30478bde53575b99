"""The script that has Kafka's own tool make a topic again, with a tool that answers as Kafka 3.9.2 and 4.2 do."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from chaosk.hosts.scripts import script

SHELLS = [words for words in (["dash"], ["bash"], ["busybox", "sh"]) if shutil.which(words[0])]
DESCRIBED = """\
Topic: orders	TopicId: x	PartitionCount: 2	ReplicationFactor: 3	Configs: min.insync.replicas=2
	Topic: orders	Partition: 0	Leader: 1	Replicas: 1,2,0	Isr: 1,2,0	Elr: N/A	LastKnownElr: N/A
	Topic: orders	Partition: 1	Leader: {}	Replicas: 2,0,1	Isr: 2,0,1
"""


class Host:
    """A Kafka whose tool writes down what it is asked, and says what it is told to."""

    def __init__(self, root: Path, says: str = "", status: int = 0) -> None:
        self.root = root
        (root / "bin").mkdir()
        (root / "says").write_text(says)
        path = root / "bin" / "kafka-topics.sh"
        path.write_text(f'#!/bin/sh\nprintf "<%s>" "$@" >>{root}/asked\ncat {root}/says\nexit {status}\n')
        path.chmod(0o755)

    def ask(self, *words: str, shell: list[str] | None = None) -> subprocess.CompletedProcess[str]:
        """Run the script as it is run on a host, but for root."""
        setpriv = self.root / "setpriv"
        setpriv.write_text('#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n')
        setpriv.chmod(0o755)
        argv = [*(shell or ["sh"]), "-c", script("topic"), "chaosk", words[0], str(self.root), *words[1:]]
        path = f"{self.root}:/usr/bin:/bin"
        return subprocess.run(argv, env={"PATH": path}, capture_output=True, text=True, check=False, timeout=60)

    @property
    def asked(self) -> str:
        """What the tool was asked, each word in brackets."""
        return (self.root / "asked").read_text()


@pytest.mark.parametrize("shell", SHELLS, ids=lambda words: words[0])
def test_it_is_made_as_it_was(tmp_path: Path, shell: list[str]) -> None:
    """Each replica where it was, with every setting; never where there is one of that name."""
    host = Host(tmp_path)
    done = host.ask("make", "", "a:1,b:2", "orders", "0:1,1:0", "min.insync.replicas=2", "x.y=1,2", shell=shell)
    assert done.returncode == 0, done.stderr
    assert host.asked == (
        "<--bootstrap-server><a:1,b:2><--create><--if-not-exists><--topic><orders><--replica-assignment><0:1,1:0>"
        "<--config><min.insync.replicas=2><--config><x.y=1,2>"
    )


def test_with_a_file_of_client_properties(tmp_path: Path) -> None:
    """Where the inventory has one; without settings none is set."""
    host = Host(tmp_path)
    assert host.ask("make", "/etc/c", "a:1", "orders", "0").returncode == 0
    assert host.asked.endswith("<--replica-assignment><0><--command-config></etc/c>")


@pytest.mark.parametrize("shell", SHELLS, ids=lambda words: words[0])
@pytest.mark.parametrize(("leader", "count", "fine"), [("2", "2", True), ("none", "2", False), ("2", "3", False)])
def test_it_is_there_with_all_its_partitions(
    tmp_path: Path,
    shell: list[str],
    leader: str,
    count: str,
    fine: bool,  # noqa: FBT001
) -> None:
    """Each with a leader."""
    done = Host(tmp_path, DESCRIBED.format(leader)).ask("there", "", "a:1", "orders", count, shell=shell)
    assert (done.returncode == 0) is fine, done.stderr


def test_what_the_tool_says_is_told(tmp_path: Path) -> None:
    """A topic that is not there, or brokers that do not answer."""
    host = Host(tmp_path, "Error while executing topic command : no such topic\nat kafka\n", status=1)
    for words in (("make", "", "a:1", "orders", "0"), ("there", "", "a:1", "orders", "1")):
        done = host.ask(*words)
        assert done.returncode == 1
        assert done.stderr.startswith("Error while executing topic command : no such topic")


@pytest.mark.parametrize("words", [("make", "", "a:1", "orders"), ("there", "", "a:1", "orders"), ("delete", "")])
def test_it_makes_topics_and_does_nothing_else(tmp_path: Path, words: tuple[str, ...]) -> None:
    """Nothing is asked of the tool."""
    done = Host(tmp_path).ask(*words)
    assert done.returncode == 1
    assert not (tmp_path / "asked").exists()


def test_a_host_without_the_tool_does_not_fit(tmp_path: Path) -> None:
    """Nor one without the file that it needs."""
    host = Host(tmp_path)
    assert host.ask("fits", "").returncode == 0
    assert "cannot be read" in host.ask("fits", str(tmp_path / "none")).stderr
    (tmp_path / "bin" / "kafka-topics.sh").unlink()
    assert "there is no" in host.ask("fits", "").stderr
