"""The archive of classes: Spark starts from it, never fails because of it, and says nothing else because of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from analysis.history import small_run
from click.testing import CliRunner
from pyspark.sql import SparkSession

from chaosk.analysis import classes
from chaosk.analysis.analyze import analyze
from chaosk.cli.prepare import command
from chaosk.core.errors import AnalysisError, PreflightError

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1200), pytest.mark.long]

LOOK = """
from pathlib import Path
from chaosk.analysis.spark import session
spark = session()
pid = spark._jvm.java.lang.ProcessHandle.current().pid()
print(*{line.split()[-1] for line in Path(f"/proc/{pid}/maps").read_text().splitlines() if ".jsa" in line})
spark.stop()
"""
"""Says which archives the JVM has in memory."""


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A user's cache with an archive, and with one for a Java that is no more."""
    place = tmp_path_factory.mktemp("cache with blanks")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(place))
        former = classes.place().with_name(classes.place().name[:-12] + "0" * 12) / "2.jsa"
        former.parent.mkdir(parents=True)
        former.write_bytes(b"2!")
        own = classes.place() / "2.jsa"
        own.parent.mkdir()
        own.write_bytes(b"2!")
        result = CliRunner().invoke(command, ["--anew"])
        assert result.exit_code == 0, result.output
        assert Path(result.stdout.rstrip()).parent == classes.place()
    return place


def mapped(cache: Path) -> str:
    """Which archives a session's JVM uses."""
    done = subprocess.run(
        [sys.executable, "-c", LOOK], capture_output=True, text=True, check=True, timeout=600,
        env={**os.environ, "XDG_CACHE_HOME": str(cache)},
    )  # fmt: skip
    return done.stdout


def test_spark_starts_from_it(cache: Path, tmp_path: Path) -> None:
    """The JVM of a session has it in memory, also from a folder with blanks in its name; without one it has none."""
    (archive,) = (cache / "chaosk").glob("*/*")
    assert "/".join(archive.parts[-3:]) in mapped(cache), (
        "the one for the former Java is gone, and nothing else is left"
    )
    assert archive.stat().st_mode & 0o077 == 0
    assert "chaosk" not in mapped(tmp_path)


def test_one_that_is_there_stays(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`chaosk prepare` again has nothing to do: it names the same file, which is as it was."""
    (archive,) = (cache / "chaosk").glob("*/*")
    before = archive.stat().st_mtime_ns
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    assert CliRunner().invoke(command).stdout == f"{archive}\n"
    assert archive.stat().st_mtime_ns == before


def judged(cache: Path, root: Path) -> bytes:
    """The verdict's bytes of a run that passes, by a process whose user has that cache."""
    run = small_run(root)
    done = subprocess.run(
        [sys.executable, "-m", "chaosk.analysis", str(run.root)], capture_output=True, text=True, check=False,
        timeout=600, env={**os.environ, "XDG_CACHE_HOME": str(cache)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 1
    assert json.loads(done.stdout)["outcome"] == "pass"
    return run.verdict.read_bytes()


def damaged(cache: Path, place: Path) -> tuple[bytes, Path]:
    """The archive's bytes, and where a damaged one goes in another cache."""
    (archive,) = (cache / "chaosk").glob("*/*")
    bad = place / archive.relative_to(cache)
    bad.parent.mkdir(parents=True)
    return archive.read_bytes(), bad


@pytest.mark.parametrize("damage", ["cut short", "of zeros", "no file"])
def test_one_that_is_none_is_left_alone(cache: Path, tmp_path: Path, damage: str) -> None:
    """Spark starts without it, and says nothing of it on stdout, which holds results alone."""
    whole, bad = damaged(cache, tmp_path)
    match damage:
        case "cut short":
            bad.write_bytes(whole[:1_000_000])
        case "of zeros":
            bad.with_name("1000000.jsa").write_bytes(bytes(1_000_000))
        case "no file":
            bad.mkdir()
    said = mapped(tmp_path)
    assert "chaosk" not in said
    assert len(said.splitlines()) == 1


def test_an_altered_one_harms_nobody(cache: Path, spark: SparkSession, tmp_path: Path) -> None:
    """Its head is right, and what is wrong comes to light with the classes in it: the verdict is the same."""
    whole, bad = damaged(cache, tmp_path)
    middle = len(whole) // 2
    bad.write_bytes(whole[:middle] + bytes(100_000) + whole[middle + 100_000 :])
    sound = small_run(tmp_path / "sound")
    analyze(spark, sound)
    assert judged(tmp_path, tmp_path / "run") == sound.verdict.read_bytes()


def test_another_java_or_spark_has_another(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Its name tells which Java and which jars it was made for: of any other there is none, so none is used."""
    before = classes.place()
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\n", encoding="ascii")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    other = classes.place()
    assert other != before
    assert other.parent == before.parent
    java.write_text("#!/bin/sh -e\n", encoding="ascii")
    assert classes.place() != other
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    assert classes.place() not in {before, other}


def test_what_keeps_it_from_being_made_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A cache that is a file, a Java that cannot, no Java at all: one error each, and nothing is left behind."""
    (tmp_path / "file").write_text("", encoding="ascii")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(AnalysisError, match=r"file/chaosk/spark-\w+-\w+: no archive .*Not a directory"):
        classes.make()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho this is no Java >&2\nexit 1\n", encoding="ascii")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(AnalysisError, match=r"Java wrote no archive of classes to .*Spark does not start"):
        classes.make()
    assert list(tmp_path.glob("chaosk/*/*")) == []
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    with pytest.raises(PreflightError, match=r"JAVA_HOME is .*nowhere"):
        CliRunner().invoke(command, catch_exceptions=False)
