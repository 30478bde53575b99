"""What the script makes of Kafka's own words, as Kafka 3.9.2 says them, in whatever shell and awk a host has."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from chaosk.hosts.scripts import script

SHELLS = [words for words in (["dash"], ["bash"], ["busybox", "sh"]) if shutil.which(words[0])]
AWKS = [words for words in ("mawk", "gawk", "original-awk", "busybox awk") if shutil.which(words.split()[0])]
BATCH = (
    "baseOffset: {} lastOffset: {} count: {} baseSequence: 0 lastSequence: 19 producerId: {} producerEpoch: {} "
    "partitionLeaderEpoch: 0 isTransactional: {} isControl: {} deleteHorizonMs: OptionalLong.empty position: 0 "
    "CreateTime: 1795335026492 size: 831 magic: 2 compresscodec: none crc: 393023443 isvalid: {}"
)
RECORD = "| offset: {} CreateTime: 1795335026492 keySize: {} valueSize: 31 sequence: 0 headerKeys: [{}]"
MARKER = " endTxnMarker: {} coordinatorEpoch: 0"


def batch(first: int, last: int, producer: int, epoch: int, *, txn: bool = True, valid: bool = True) -> str:
    """A batch of records as the tool prints it."""
    flags = (str(txn).lower(), "false", str(valid).lower())
    lines = [BATCH.format(first, last, last - first + 1, producer, epoch, *flags)]
    return "\n".join([*lines, *(RECORD.format(offset, -1, "") for offset in range(first, last + 1))])


def marker(offset: int, producer: int, epoch: int, kind: str) -> str:
    """A control batch as the tool prints it."""
    line = BATCH.format(offset, offset, 1, producer, epoch, "true", "true", "true")
    return f"{line}\n{RECORD.format(offset, 4, '')}{MARKER.format(kind)}"


class Host:
    """A folder with a Kafka whose tool prints what it is told, and partitions with segments."""

    def __init__(self, root: Path) -> None:
        """Makes it."""
        self.root, self.bin = root, root / "kafka" / "bin"
        self.bin.mkdir(parents=True)
        (root / "path").mkdir()
        drop = 'while [ "$1" != -- ]; do shift; done; shift; "$@"'
        self.program(root / "path" / "setpriv", f'echo "$@" >>{root}/asked; {drop}')

    def program(self, path: Path, text: str) -> None:
        """Put a program there."""
        path.write_text(f"#!/bin/sh\n{text}\n", "utf-8")
        path.chmod(0o755)

    def log(self, name: str, *segments: int, on: str = "data") -> list[str]:
        """A partition's folder; what the tool says where each of its segments begins."""
        folder = self.root / on / name
        folder.mkdir(parents=True)
        paths = [folder / f"{first:020}.log" for first in segments]
        for path in paths:
            path.touch()
            path.with_suffix(".index").touch()
        return [f"Dumping {path}\nLog starting offset: {int(path.stem)}" for path in paths]

    def says(self, *texts: str, status: int = 0) -> None:
        """What the tool prints."""
        (self.root / "said").write_text("".join(f"{text}\n" for text in texts), "utf-8")
        self.program(self.bin / "kafka-dump-log.sh", f"cat {self.root}/said; exit {status}")

    def ask(
        self, *logs: str, action: str = "markers", shell: list[str] | None = None, awk: str = ""
    ) -> subprocess.CompletedProcess[str]:
        """Run the script."""
        if awk:
            self.program(self.root / "path" / "awk", f'exec {awk} "$@"')
        data = f"{self.root}/other disk,{self.root}/data"
        words = [*(shell or ["sh"]), "-c", script("dump"), "chaosk", action, str(self.root / "kafka"), data, *logs]
        path = f"{self.root}/path:/usr/sbin:/usr/bin:/sbin:/bin"
        return subprocess.run(words, env={"PATH": path}, capture_output=True, text=True, check=False, timeout=60)


@pytest.fixture
def host(tmp_path: Path) -> Host:
    """A host on disk."""
    return Host(tmp_path)


@pytest.mark.parametrize("awk", AWKS)
@pytest.mark.parametrize("shell", SHELLS, ids=lambda words: words[0])
def test_stretches_and_markers_are_left_of_it(host: Host, shell: list[str], awk: str) -> None:
    """Batches of one transaction next to each other become one line; others end it; offsets may be large."""
    big = 5_000_000_000
    host.says(
        *host.log("a.b-0", 0), batch(0, 2, 7, 0), batch(3, 4, 7, 0), batch(5, 5, 8, 1), batch(6, 6, 7, 0),
        marker(7, 7, 0, "COMMIT"), batch(8, 9, -1, -1, txn=False), batch(10, 10, 8, 1), marker(11, 8, 2, "ABORT"),
        *host.log("a.b-1", 0, big, on="other disk")[:1], batch(3, 3, 7, 0),
        f"Dumping {host.root}/other disk/a.b-1/{big:020}.log\nLog starting offset: {big}", batch(big, big + 1, 7, 0),
    )  # fmt: skip
    done = host.ask("a.b-0", "gone-3", "a.b-1", shell=shell, awk=awk)
    assert (done.stderr, done.returncode) == ("", 0)
    assert done.stdout.splitlines() == [
        "absent gone-3", "log a.b-0", "segment 0", "batches 0 4 7 0", "batches 5 5 8 1", "batches 6 6 7 0",
        "marker 7 7 0 COMMIT", "batches 10 10 8 1", "marker 11 8 2 ABORT", "reached 11",
        "log a.b-1", "segment 0", "batches 3 3 7 0", "reached 3", f"segment {big}", f"batches {big} {big + 1} 7 0",
        f"reached {big + 1}", "status 0",
    ]  # fmt: skip


def test_the_tool_runs_as_who_owns_the_log_and_reads_every_segment(host: Host) -> None:
    """Not as root: it needs to read, and nothing else; only segments are named, in their order."""
    host.log("a-0", 0, 100)
    host.says()
    host.ask("a-0")
    owner = (host.root / "data" / "a-0").stat()
    asked = (host.root / "asked").read_text("utf-8")
    assert asked.startswith(f"--reuid {owner.st_uid} --regid {owner.st_gid} --clear-groups -- ")
    folder = host.root / "data" / "a-0"
    assert asked.endswith(f" --files {folder}/{0:020}.log,{folder}/{100:020}.log\n")


def test_what_it_does_not_know_is_told(host: Host) -> None:
    """Invalid batches, bytes behind the end, control records of another kind: three lines of them at most."""
    control = marker(3, 7, 0, "COMMIT").replace(MARKER.format("COMMIT"), " SnapshotHeader x")
    host.says(
        *host.log("a-0", 0),
        batch(0, 2, 7, 0, valid=False),
        control,
        "Found 3 invalid bytes at the end of x.log",
        "more",
    )
    lines = host.ask("a-0").stdout.splitlines()
    strange = [line for line in lines if line.startswith("strange ")]
    assert len(strange) == 3
    assert strange[0] == "strange the batch at 0 has isvalid: false"
    assert "SnapshotHeader" in strange[1]
    assert strange[2] == "strange Found 3 invalid bytes at the end of x.log"


def test_the_tools_own_failure_is_told(host: Host) -> None:
    """Its status, behind whatever it had said."""
    host.says(*host.log("a-0", 0), batch(0, 2, 7, 0), status=3)
    assert host.ask("a-0").stdout.splitlines()[-3:] == ["batches 0 2 7 0", "reached 2", "status 3"]


def test_a_host_without_the_tool_says_so(host: Host) -> None:
    """The inventory may name another home."""
    host.log("a-0", 0)
    done = host.ask("a-0")
    assert (done.stdout, done.returncode) == ("", 1)
    assert done.stderr == f"there is no {host.bin}/kafka-dump-log.sh\n"


def test_nobody_asks_the_tool_for_nothing(host: Host) -> None:
    """Where no log is found there is nothing to read, and that is no failure."""
    host.says(status=9)
    assert host.ask("a-0", "a-1").stdout == "absent a-0\nabsent a-1\nstatus 0\n"


def test_the_answer_is_bounded(host: Host) -> None:
    """What is more than chaosk takes is left out, and it says so."""
    start = host.log("a-0", 0)
    many = (f"{BATCH.format(n, n, 1, 7 + n % 2, 0, 'true', 'false', 'true')}" for n in range(700_000))
    host.says(*start, *many)
    done = host.ask("a-0")
    assert len(done.stdout) < 12_100_000
    assert done.stdout.endswith("full\nstatus 0\n")


@pytest.mark.parametrize("awk", AWKS)
@pytest.mark.parametrize("shell", SHELLS, ids=lambda words: words[0])
def test_batches_that_hold_some_offsets_are_left_of_it(host: Host, shell: list[str], awk: str) -> None:
    """Whole batches, also those that begin before and end behind; control batches too; each log has its own offsets."""
    big = 5_000_000_000
    host.says(
        *host.log("a.b-0", 0), batch(0, 2, 7, 0), batch(3, 4, 7, 0), marker(5, 7, 0, "COMMIT"), batch(6, 9, -1, -1),
        *host.log("a.b-1", big), batch(big, big + 1, 7, 0),
    )  # fmt: skip
    done = host.ask("a.b-0:4:6", "gone-3:0:1", f"a.b-1:{big + 1}:{big + 9}", action="batches", shell=shell, awk=awk)
    assert (done.stderr, done.returncode) == ("", 0)
    assert done.stdout.splitlines() == [
        "absent gone-3", "log a.b-0", "segment 0", "batch 3 4 0 393023443", "batch 5 5 0 393023443",
        "batch 6 9 0 393023443", "reached 9",
        "log a.b-1", f"segment {big}", f"batch {big} {big + 1} 0 393023443", f"reached {big + 1}", "status 0",
    ]  # fmt: skip
    assert "--deep-iteration" not in (host.root / "asked").read_text("utf-8")


@pytest.mark.parametrize(
    ("span", "segments"),
    [
        ("0:5", [0]),
        ("99:99", [0]),
        ("99:100", [0, 100]),
        ("100:100", [100]),
        ("150:900", [100, 200]),
        ("250:900", [200]),
    ],
)
def test_only_segments_that_can_hold_the_offsets_are_read(host: Host, span: str, segments: list[int]) -> None:
    """A segment goes until the next one begins."""
    host.log("a-0", 0, 100, 200)
    host.says()
    host.ask(f"a-0:{span}", action="batches")
    folder = host.root / "data" / "a-0"
    files = ",".join(f"{folder}/{first:020}.log" for first in segments)
    assert (host.root / "asked").read_text("utf-8").endswith(f" --files {files}\n")


def test_a_batch_without_a_checksum_is_not_taken_for_one(host: Host) -> None:
    """Another version of the tool may print other words: then nobody knows."""
    host.says(*host.log("a-0", 0), batch(0, 2, 7, 0).replace("crc: 393023443", ""))
    assert "strange baseOffset: 0" in host.ask("a-0:0:2", action="batches").stdout
