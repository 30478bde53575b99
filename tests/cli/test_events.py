"""``chaosk events``: for people and for pipes, on runs that go on and on runs that are over."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from chaosk.cli.main import main
from chaosk.rundir.events import TABLES
from chaosk.rundir.events.live import LiveLog
from chaosk.rundir.events.store import close
from chaosk.rundir.paths import RunDir, create

START = 5_000_000_000_000


@pytest.fixture
def rundir(tmp_path: Path) -> RunDir:
    """A run going on: its timeline began 10 s ago, a producer wrote 50 records, a watcher samples."""
    rundir = create(tmp_path, "events")
    rundir.plan.write_text("{}")
    with LiveLog(rundir.live / "run") as log:
        log.write("phases", ("baseline", START - 5_000_000_000, START))
        log.write("phases", ("timeline", START, None))
    with LiveLog(rundir.live / "writer-0") as log:
        for seq in range(50):
            due = START + seq * 200_000_000
            failed = seq % 10 == 7
            result = ("fail", "NOT_ENOUGH_REPLICAS", None) if failed else ("ok", None, seq)
            log.write("sends", ("writer", 0, seq, "orders", seq % 3, due, due, due + 1_000_000, *result, *[None] * 3))
        log.write("ends", ("writer", 0, START + 10_000_000_000, 50, 50))
    watcher = LiveLog(rundir.live / "watcher")
    watcher.write("partitions", (START, 1, "orders", 0, 2, 5, [2, 0, 1], [2, 0]))
    watcher.write("partitions", (START + 1, 1, "orders", 0, 2, 5, [2, 0, 1], [2, 0, 1]))
    watcher.flush()
    return rundir


def rows(capsys: pytest.CaptureFixture[str], rundir: RunDir, *words: str) -> list[dict[str, Any]]:
    """What the command prints as JSON lines."""
    assert main(["events", str(rundir.root), *words, "--format", "jsonl"]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def seqs(capsys: pytest.CaptureFixture[str], rundir: RunDir, *words: str) -> list[int]:
    """The sequence numbers of the sends that the command prints."""
    return [row["seq"] for row in rows(capsys, rundir, "sends", *words)]


def test_without_a_table_it_says_what_there_is(rundir: RunDir, capsys: pytest.CaptureFixture[str]) -> None:
    """Every table with its rows, and the streams that were not closed."""
    counts = {row["table"]: row["rows"] for row in rows(capsys, rundir)}
    assert list(counts) == list(TABLES)
    assert (counts["sends"], counts["partitions"], counts["reads"]) == (50, 2, 0)
    assert main(["events", str(rundir.root)]) == 0
    shown = capsys.readouterr().out
    assert "watcher/partitions: not closed" in shown
    assert "writer-0" not in shown


def test_rows_come_complete(rundir: RunDir, capsys: pytest.CaptureFixture[str]) -> None:
    """Every column of every row, as it was written."""
    assert rows(capsys, rundir, "partitions")[0] == {
        "at": START, "asked": 1, "topic": "orders", "partition": 0, "leader": 2, "leader_epoch": 5,
        "replicas": [2, 0, 1], "isr": [2, 0],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("words", "chosen"),
    [
        ([], list(range(50))),
        (["--where", "outcome=fail"], [7, 17, 27, 37, 47]),
        (["--where", "outcome!=ok", "--where", "partition=1"], [7, 37]),
        (["--where", "error="], [seq for seq in range(50) if seq % 10 != 7]),
        (["--where", "error!="], [7, 17, 27, 37, 47]),
        (["--where", "error!=NOT_ENOUGH_REPLICAS", "--limit", "3"], [0, 1, 2]),
        (["--where", "seq=12"], [12]),
        (["--where", "seq=-1"], []),
        (["--from", "9s"], [45, 46, 47, 48, 49]),
        (["--from", "1s", "--to", "2s"], [5, 6, 7, 8, 9]),
        (["--to", "400ms"], [0, 1]),
        (["--from", "-3s", "--to", "0s"], []),
        (["--limit", "2"], [0, 1]),
        (["--from", "1s", "--where", "outcome=fail", "--limit", "1"], [7]),
    ],
)
def test_conditions(rundir: RunDir, capsys: pytest.CaptureFixture[str], words: list[str], chosen: list[int]) -> None:
    """Values, emptiness, windows and limits, alone and together, before and after the run was closed."""
    assert seqs(capsys, rundir, *words) == chosen
    close(rundir)
    assert seqs(capsys, rundir, *words) == chosen


def test_lists_and_truth_values_can_be_asked_for(rundir: RunDir, capsys: pytest.CaptureFixture[str]) -> None:
    """An ISR as its ids, a flag as true or false."""
    assert len(rows(capsys, rundir, "partitions", "--where", "isr=2,0")) == 1
    assert len(rows(capsys, rundir, "partitions", "--where", "isr!=2,0")) == 1
    with LiveLog(rundir.live / "reader-0") as log:
        log.write("errors", ("reader", 0, START, "_TRANSPORT", "gone", False))
    assert len(rows(capsys, rundir, "errors", "--where", "fatal=false")) == 1
    assert rows(capsys, rundir, "errors", "--where", "fatal=TRUE") == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["snds"], "snds: there is no such event table; did you mean 'sends'?"),
        (["sends", "--where", "outcom=ok"], "sends has no column 'outcom'; did you mean 'outcome'?"),
        (["sends", "--where", "seq"], "'seq' is not a condition; write column=value"),
        (["sends", "--where", "seq=many"], "seq is a whole number, not 'many'"),
        (["errors", "--where", "fatal=maybe"], "fatal is true or false, not 'maybe'"),
        (["partitions", "--where", "isr=a,b"], "isr is whole numbers with commas"),
        (["groups", "--from", "1s"], "groups has no times"),
    ],
)
def test_what_cannot_be_asked_says_what_can(
    rundir: RunDir, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    """Unknown names come with the nearest known one, wrong values with what is wanted; exit code 64."""
    assert main(["events", str(rundir.root), *words]) == 64
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.out == ""


@pytest.mark.parametrize("words", [["--from", "10"], ["--to", "soon"], ["--limit", "0"], ["--format", "xml"]])
def test_a_wrong_option_is_bad_usage(rundir: RunDir, capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    """Exit code 64, and no traceback."""
    assert main(["events", str(rundir.root), "sends", *words]) == 64
    assert "Traceback" not in capsys.readouterr().err


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The folder is named."""
    assert main(["events", str(tmp_path)]) == 64
    assert "not a run directory" in capsys.readouterr().err


def test_a_window_needs_a_run_that_began(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Before the first phase there is nothing to count from, and it says so."""
    rundir = create(tmp_path, "early")
    rundir.plan.write_text("{}")
    assert main(["events", str(rundir.root), "sends", "--from", "1s"]) == 64
    assert "no phase yet" in capsys.readouterr().err


def test_a_table_is_for_people(rundir: RunDir, capsys: pytest.CaptureFixture[str]) -> None:
    """Times are seconds since the timeline's start, counts stay counts, emptiness is empty."""
    assert main(["events", str(rundir.root), "sends", "--where", "seq=7"]) == 0
    head, line = (each.split() for each in capsys.readouterr().out.splitlines()[:2])
    assert head[:3] == ["probe", "incarnation", "seq"]
    assert line == [
        "writer", "0", "7", "orders", "1", "1.400000", "1.400000", "1.401000", "fail", "NOT_ENOUGH_REPLICAS"
    ]  # fmt: skip
    assert main(["events", str(rundir.root), "ends"]) == 0
    assert capsys.readouterr().out.splitlines()[1].split() == ["writer", "0", "10.000000", "50", "50"]


def test_a_long_table_says_that_there_is_more(rundir: RunDir, capsys: pytest.CaptureFixture[str]) -> None:
    """A person gets a hundred rows and the word that there may be more; a pipe gets all."""
    with LiveLog(rundir.live / "clock") as log:
        for second in range(150):
            log.write("clocks", (START + second, second))
    assert main(["events", str(rundir.root), "clocks"]) == 0
    captured = capsys.readouterr()
    assert len(captured.out.splitlines()) == 101
    assert "--limit shows more" in captured.err
    assert len(rows(capsys, rundir, "clocks")) == 150


def test_csv_has_a_head_and_every_row(rundir: RunDir, capsys: pytest.CaptureFixture[str]) -> None:
    """It reads back by column name; lists have spaces between their numbers."""
    assert main(["events", str(rundir.root), "partitions", "--format", "csv"]) == 0
    found = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["isr"] for row in found] == ["2 0", "2 0 1"]
    assert main(["events", str(rundir.root), "sends", "--format", "csv", "--limit", "8"]) == 0
    assert [row["error"] for row in csv.DictReader(io.StringIO(capsys.readouterr().out))][6:] == [
        "",
        "NOT_ENOUGH_REPLICAS",
    ]


def chaosk(*words: str, **settings: Any) -> subprocess.CompletedProcess[bytes]:
    """The command in a process of its own."""
    return subprocess.run([sys.executable, "-m", "chaosk", *words], capture_output=True, check=False, **settings)


def test_parquet_goes_through_a_pipe(rundir: RunDir) -> None:
    """What comes out is a Parquet file with the chosen rows and the table's columns."""
    done = chaosk("events", str(rundir.root), "sends", "--where", "outcome=fail", "--format", "parquet")
    assert done.returncode == 0, done.stderr
    table = pq.read_table(io.BytesIO(done.stdout))
    assert table.column("seq").to_pylist() == [7, 17, 27, 37, 47]
    assert table.schema.names == [column.name for column in TABLES["sends"].columns]


def test_a_reader_that_has_seen_enough_is_no_failure(rundir: RunDir) -> None:
    """``chaosk events … | head -1`` ends quietly with 0."""
    with LiveLog(rundir.live / "many") as log:
        for number in range(50_000):
            log.write("clocks", (number, number))
    command = (
        f"{sys.executable} -m chaosk events {rundir.root} clocks --format jsonl | head -1; exit ${{PIPESTATUS[0]}}"
    )
    done = subprocess.run(["bash", "-c", command], capture_output=True, check=False)
    assert done.stderr == b""
    assert done.returncode == 0
    assert json.loads(done.stdout) == {"monotonic": 0, "wall": 0}
