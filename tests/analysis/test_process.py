"""The analysis as a process and as a command: the same bytes however it is run, and clear errors."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pyspark
import pytest
from analysis.history import History, small_run
from click.testing import CliRunner
from pyspark.sql import SparkSession

from chaosk.analysis import evidence, one_session
from chaosk.analysis.analyze import analyze
from chaosk.analysis.spark import LARGE
from chaosk.cli.analyze import command
from chaosk.core.errors import AnalysisError, UsageError
from chaosk.rundir.paths import RunDir

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1500), pytest.mark.long]


def heap(option: str) -> int:
    """Bytes of heap that a JVM's option -Xmx allows."""
    return int(option[len("-Xmx") : -1]) << {"k": 10, "m": 20, "g": 30}[option[-1]]


def lossy(root: Path, rows: int = 60) -> RunDir:
    """A run with several findings, lost and repeated records among them."""
    history = History(records=200, acks=1, idempotent=False)
    for offset in range(20, 20 + rows):
        history.drop("reads", offset=offset)
        history.drop("audit", offset=offset)
    for offset in range(150, 160):
        history.read(offset, 19.95)
    history.expect = {"lost_records": {"min": 1}, "unavailability": {"writer": "1s"}}
    return history.write(root)


def judged_bytes(rundir: RunDir) -> dict[str, bytes]:
    """All that a judgement writes."""
    written = [rundir.verdict, *sorted(rundir.evidence.iterdir())]
    return {str(path.relative_to(rundir.root)): path.read_bytes() for path in written}


def run_analysis(*words: str, stdin: str = "", **env: str) -> subprocess.CompletedProcess[str]:
    """``python -m chaosk.analysis``."""
    return subprocess.run(
        [sys.executable, "-m", "chaosk.analysis", *words],
        input=stdin, capture_output=True, text=True, timeout=700, check=False, env={**os.environ, **env},
    )  # fmt: skip


def below(parent: int) -> Iterator[int]:
    """A process's children, and theirs."""
    with suppress(FileNotFoundError, ProcessLookupError):  # it has just ended
        for task in Path(f"/proc/{parent}/task").iterdir():
            for child in (task / "children").read_text("ascii").split():
                yield int(child)
                yield from below(int(child))


def commands_below(parent: int) -> Iterator[list[str]]:
    """The command lines of a process's children, and of theirs."""
    for child in below(parent):
        with suppress(FileNotFoundError, ProcessLookupError):
            yield Path(f"/proc/{child}/cmdline").read_text("utf-8").split("\0")


def until(holds: Callable[[], bool], seconds: float) -> None:
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it does not come to hold"
        time.sleep(0.1)


def test_judging_twice_gives_the_same_bytes(spark: SparkSession, tmp_path: Path) -> None:
    """Verdict and evidence, byte by byte."""
    rundir = lossy(tmp_path / "run")
    analyze(spark, rundir)
    first = judged_bytes(rundir)
    analyze(spark, rundir)
    assert judged_bytes(rundir) == first
    assert first["evidence/lost.jsonl"].count(b"\n") == 60


def test_many_rows_are_written_as_few_are(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More rows than are fetched at once come from files that Spark writes: same order, same bytes, same figures."""
    rundir = lossy(tmp_path / "run")
    analyze(spark, rundir)
    few = judged_bytes(rundir)
    monkeypatch.setattr(evidence, "AT_ONCE", 3)
    analyze(spark, rundir)
    assert judged_bytes(rundir) == few
    assert not list(rundir.evidence.glob("*.parts"))


def test_a_waiting_process_judges_when_told(spark: SparkSession, tmp_path: Path) -> None:
    """It starts Spark without a run to judge, and then gives the bytes that any other session gives."""
    rundir = lossy(tmp_path / "run")
    done = run_analysis(str(rundir.root), "--wait", stdin="go\n")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["verdict"] == str(rundir.verdict)
    assert told["outcome"] == "violation"
    assert set(told["seconds"]) >= {"session", "waited", "judge"}
    first = judged_bytes(rundir)
    analyze(spark, rundir)
    assert judged_bytes(rundir) == first


@pytest.mark.parametrize(("load", "times"), [(0.9, 1), (1.0, 0)])
def test_only_what_lies_idle_is_warmed_up_with(monkeypatch: pytest.MonkeyPatch, load: float, times: int) -> None:
    """Where others want all processors nothing is judged but the real run, and never a made-up one twice."""
    warmed: list[object] = []
    processors = len(os.sched_getaffinity(0))
    monkeypatch.setattr(os, "getloadavg", lambda: (load * processors, 0.0, 0.0))
    monkeypatch.setattr(one_session, "session", lambda *_args, **_more: "a session")
    monkeypatch.setattr(one_session, "warm_up", lambda spark, _folder: warmed.append(spark))
    spark = one_session.OneSession()
    spark.prepare()
    until(lambda: "session" in spark.times and len(warmed) == times, 10)
    assert spark() == "a session"  # type: ignore[comparison-overlap] # stands for one
    assert warmed == ["a session"] * times


def test_a_start_that_fails_is_told_where_spark_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """It happens in the background, and a run that needs no Spark is judged without it."""

    def failing(*_args: object, **_more: object) -> None:
        raise AnalysisError("Spark does not start")

    monkeypatch.setattr(one_session, "session", failing)
    spark = one_session.OneSession()
    spark.prepare()
    with pytest.raises(AnalysisError, match="does not start"):
        spark()


def test_a_run_without_suspects_needs_no_spark(tmp_path: Path) -> None:
    """Its verdict is there without a JVM; and one with suspects starts it, once."""
    started: list[int] = []

    def starting() -> SparkSession:
        started.append(1)
        raise AnalysisError("it is asked for Spark")

    assert analyze(starting, small_run(tmp_path / "flawless")).verdict == "pass"
    assert not started
    with pytest.raises(AnalysisError, match="asked for Spark"):
        analyze(starting, lossy(tmp_path / "lossy"))
    assert started == [1]


def test_a_waiting_process_begins_again_for_a_large_run(spark: SparkSession, tmp_path: Path) -> None:
    """It waited with little memory: it becomes one with much, keeps its id and its output, and gives the same bytes."""
    rundir = lossy(tmp_path / "run")
    pq.write_table(pa.table({"nothing": pa.nulls(LARGE, pa.int8())}), rundir.events / "no_table.parquet")
    words = [sys.executable, "-m", "chaosk.analysis", str(rundir.root), "--wait", "--master", "local[1]"]
    memory: set[int] = set()

    def looked(pid: int) -> set[int]:
        lines = commands_below(pid)
        memory.update(heap(word) for line in lines for word in line if word.startswith("-Xmx"))
        return {size for size in memory if size >= 1 << 30}

    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        until(lambda: bool(looked(process.pid)), 60)
        process.stdin.write("go\n")
        process.stdin.flush()
        while process.poll() is None:
            looked(process.pid)
            time.sleep(0.1)
        told = json.loads(process.stdout.read().splitlines()[-1])
    assert process.returncode == 0
    assert set(told["seconds"]) == {"session", "judge"}
    judging = sorted(size for size in memory if size >= 1 << 30)  # one that only starts them has less
    assert len(judging) == 2
    assert judging[1] >= 4 * judging[0]
    first = judged_bytes(rundir)
    analyze(spark, rundir)
    assert judged_bytes(rundir) == first


def test_a_waiting_process_whose_parent_is_gone_ends(tmp_path: Path) -> None:
    """Its stdin is closed before it was told to judge: it ends, and judges nothing."""
    rundir = small_run(tmp_path / "run")
    done = run_analysis(str(rundir.root), "--wait")
    assert done.returncode == 2
    assert "stdin" in done.stderr
    assert not rundir.verdict.exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_who_judges_ends_with_the_run_that_asked(tmp_path: Path, number: signal.Signals) -> None:
    """Ended while it waits for the verdict, by whatever signal: neither analysis nor JVM is left to go on."""
    rundir = small_run(tmp_path / "run")
    asking = (
        "import pathlib, sys; from chaosk.rundir.paths import RunDir; from chaosk.run.analyst import Analyst; "
        "Analyst(RunDir(pathlib.Path(sys.argv[1]))).judge()"
    )
    environment = {name: value for name, value in os.environ.items() if name != "CHAOSK_STANDBY"}
    run = subprocess.Popen([sys.executable, "-c", asking, str(rundir.root)], env=environment)
    until(lambda: any("org.apache.spark" in " ".join(words) for words in commands_below(run.pid)), 60)
    left = set(below(run.pid))
    run.send_signal(number)
    run.wait()
    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in left), 20)
    assert not rundir.verdict.exists(), "it went on to judge"


@pytest.mark.long
def test_a_cluster_of_two_workers_gives_the_same_bytes(spark: SparkSession, tmp_path: Path) -> None:
    """A Spark standalone cluster on loopback: another master, more workers, not another verdict."""
    rundir = lossy(tmp_path / "run")
    analyze(spark, rundir)
    here = judged_bytes(rundir)
    with standalone(tmp_path) as master:
        submit = "--conf spark.executor.memory=512m --conf spark.sql.shuffle.partitions=3 pyspark-shell"
        done = run_analysis(
            str(rundir.root), "--master", master, SPARK_LOCAL_IP="127.0.0.1", PYSPARK_SUBMIT_ARGS=submit
        )
    assert done.returncode == 0, done.stderr
    assert judged_bytes(rundir) == here


@contextmanager
def standalone(folder: Path) -> Iterator[str]:
    """A Spark master and two workers of one core each on loopback; its URL."""
    port = free_port()
    master = f"spark://127.0.0.1:{port}"
    log = folder / "standalone.log"
    options = ["--host", "127.0.0.1", "--webui-port", "0"]
    with ExitStack() as stack:
        stack.enter_context(spark_process(log, "org.apache.spark.deploy.master.Master", *options, "--port", str(port)))
        for number in range(2):
            work = ["--work-dir", str(folder / f"worker{number}"), "-c", "1", "-m", "1g", master]
            stack.enter_context(spark_process(log, "org.apache.spark.deploy.worker.Worker", *options, *work))
        wait_for(log, "Registering worker", 2)
        yield master


@contextmanager
def spark_process(log: Path, *words: str) -> Iterator[None]:
    """A process of Spark's own."""
    command_file = Path(pyspark.__file__).parent / "bin" / "spark-class"
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_NO_DAEMONIZE": "1"}
    with log.open("ab") as out:
        process = subprocess.Popen([str(command_file), *words], stdout=out, stderr=out, env=environment)
    try:
        yield
    finally:
        process.kill()
        process.wait()


def wait_for(log: Path, words: str, times: int) -> None:
    """Until a log says something so many times."""
    end = time.monotonic() + 120
    while log.read_text(errors="replace").count(words) < times:
        assert time.monotonic() < end, log.read_text(errors="replace")
        time.sleep(0.2)


def free_port() -> int:
    """A port of loopback that nobody listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def test_a_master_that_does_not_answer_is_one_clear_error(tmp_path: Path) -> None:
    """No traceback; exit 2, because the run was not judged; nothing written."""
    rundir = lossy(tmp_path / "run")
    submit = (
        "--conf spark.rpc.askTimeout=2s --conf spark.network.timeout=10s --conf spark.executor.heartbeatInterval=2s"
    )
    master = f"spark://127.0.0.1:{free_port()}"
    done = run_analysis(str(rundir.root), "--master", master, PYSPARK_SUBMIT_ARGS=f"{submit} pyspark-shell")
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not rundir.verdict.exists()


def test_no_java_is_one_clear_error(tmp_path: Path) -> None:
    """It says what to install; preflight's exit code."""
    rundir = lossy(tmp_path / "run")
    done = run_analysis(str(rundir.root), JAVA_HOME=str(tmp_path), PATH="/nowhere")
    assert done.returncode == 69
    assert re.search(r"install a Java 17 runtime", done.stderr)
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_damaged_table_is_one_clear_error(spark: SparkSession, tmp_path: Path) -> None:
    """Whichever reads it, pyarrow or Spark; the raw log is left alone."""
    rundir = small_run(tmp_path / "run")
    path = rundir.events / "sends.parquet"
    content = bytearray(path.read_bytes())
    content[4:400] = b"\0" * 396  # pages; the footer stays whole
    path.write_bytes(bytes(content))
    with pytest.raises(AnalysisError, match=r"run"):
        analyze(spark, rundir)
    assert path.read_bytes() == bytes(content)
    assert not rundir.verdict.exists()


@pytest.mark.parametrize("table", ["sends", "faults", "audit"])
def test_a_missing_table_is_one_clear_error(spark: SparkSession, tmp_path: Path, table: str) -> None:
    """Which one, and what to do."""
    rundir = small_run(tmp_path / "run")
    (rundir.events / f"{table}.parquet").unlink()
    with pytest.raises(AnalysisError, match=rf"{table}.parquet: the event table is missing"):
        analyze(spark, rundir)


@pytest.mark.parametrize(("table", "column"), [("reads", "scheduled"), ("faults", "took")])
def test_a_table_of_another_version_is_one_clear_error(
    spark: SparkSession, tmp_path: Path, table: str, column: str
) -> None:
    """Which column it lacks, of a large table and of a small one: Spark would take it for empty and say nothing."""
    rundir = small_run(tmp_path / "run")
    path = rundir.events / f"{table}.parquet"
    pq.write_table(pq.read_table(path).drop_columns([column]), path)
    with pytest.raises(AnalysisError, match=rf"{table}.parquet: the event table has no column {column}: another ver"):
        analyze(spark, rundir)
    assert not rundir.verdict.exists()


def test_the_command_prints_the_verdict_and_exits_with_its_code(tmp_path: Path) -> None:
    """`chaosk analyze`: the sentence, the path, the code; INCONCLUSIVE here, because one guard is not met."""
    history = History(records=50)
    history.change("faults", {"fault": "kill"}, took=False, why="broker 1 ran on")
    rundir = history.write(tmp_path / "run")
    words = [sys.executable, "-m", "chaosk", "analyze", str(rundir.root)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=700, check=False)
    assert done.returncode == 2, done.stderr
    assert "INCONCLUSIVE: the fault kill on broker 1 on node1 did not take" in done.stdout
    assert done.stdout.strip().endswith("verdict.json")


def test_what_is_no_run_directory_is_refused(tmp_path: Path) -> None:
    """Before any JVM is started."""
    result = CliRunner().invoke(command, [str(tmp_path)])
    assert isinstance(result.exception, UsageError)
    assert "not a run directory" in str(result.exception)
