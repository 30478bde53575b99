"""The rim where the lab acts on the machine."""

from __future__ import annotations

import os
import stat
import sys
import threading
import time
from pathlib import Path

import pytest

from chaosk.core.errors import LabError
from chaosk.lab import runner


def test_output_comes_back() -> None:
    """Standard output is the answer; standard input gets there."""
    assert runner.run(["cat"], stdin="x y\n") == "x y\n"


def test_words_are_not_read_by_a_shell() -> None:
    """Nothing in an argument means anything."""
    word = "$(id) ; `id` > /x 'y' \"z\" *"
    assert runner.run(["printf", "%s", word]) == word


def test_failure_says_what_and_why() -> None:
    """The message has the command, its exit status and its own words."""
    with pytest.raises(LabError, match=r"ls /nowhere: exit status 2: .*No such file"):
        runner.run(["ls", "/nowhere"])


def test_a_silent_failure_is_still_named() -> None:
    """A program that says nothing does not leave the message empty."""
    with pytest.raises(LabError, match="false: exit status 1: no output"):
        runner.run(["false"])


@pytest.mark.parametrize(
    ("program", "package"), [("mvn", "maven"), ("sshd", "openssh-server"), ("ip", "iproute2"), ("nosuch", "nosuch")]
)
def test_missing_program_names_its_package(program: str, package: str) -> None:
    """A lack comes with the Debian package that ends it."""
    assert str(runner.missing(program)) == f"{program} is not installed; do: apt-get install {package}"


def test_missing_program_is_one_message() -> None:
    """A program that is not there is a LabError, wherever it is started."""
    with pytest.raises(LabError, match="nosuch-program is not installed"):
        runner.run(["nosuch-program"])


def test_find(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program is looked for where the caller has it, then where the system does."""
    assert runner.find("sh").name == "sh"
    monkeypatch.setenv("PATH", "/nowhere")
    assert runner.find("sh").is_absolute()
    with pytest.raises(LabError, match="nosuch-program is not installed"):
        runner.find("nosuch-program")


def test_time_limit() -> None:
    """A program that hangs is ended and named."""
    with pytest.raises(LabError, match=r"sleep 20: no end after 0\.1 s"):
        runner.run(["sleep", "20"], timeout=0.1)


def test_the_environment_is_not_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a lab does cannot depend on the caller's variables, nor hand them to hosts."""
    monkeypatch.setenv("CHAOSK_SECRET", "x")
    assert "CHAOSK_SECRET" not in runner.run(["env"])
    assert "EXTRA=1" in runner.run(["env"], environment={"EXTRA": "1"})


def test_detached_program_outlives_the_call(tmp_path: Path) -> None:
    """It runs in a session of its own, its output in the log, the marked descriptor open."""
    log, mark = tmp_path / "log", tmp_path / "mark"
    descriptor = os.open(mark, os.O_RDWR | os.O_CREAT)
    script = f"readlink /proc/self/fd/{descriptor}; ps -o sid= -p $$; echo oops >&2"
    runner.detach(["sh", "-c", script], log=log, keep=[descriptor])
    os.close(descriptor)
    deadline = time.monotonic() + 10
    while "oops" not in (text := log.read_text(encoding="ascii") if log.exists() else ""):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    first, session, _ = text.splitlines()
    assert first == str(mark)
    assert int(session) != os.getsid(0)


def test_detached_program_must_exist(tmp_path: Path) -> None:
    """The same message as for any other program."""
    with pytest.raises(LabError, match="nosuch-program is not installed"):
        runner.detach(["nosuch-program"], log=tmp_path / "log", keep=[])


@pytest.mark.parametrize("mode", [0o600, 0o440, 0o755])
def test_a_file_has_its_mode(tmp_path: Path, mode: int) -> None:
    """Text and mode are there together, whatever the umask, and nothing lies beside."""
    old = os.umask(0o077)
    try:
        runner.write(tmp_path / "x", "text\n", mode)
        runner.write(tmp_path / "x", "more\n", mode)
    finally:
        os.umask(old)
    assert (tmp_path / "x").read_text(encoding="ascii") == "more\n"
    assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == mode
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_a_reader_never_sees_half(tmp_path: Path) -> None:
    """While a file is rewritten over and over, every read is one of the versions."""
    path, texts = tmp_path / "x", {"a" * 100_000, "b" * 100_000}
    runner.write(path, "a" * 100_000)
    stop = threading.Event()

    def rewrite() -> None:
        while not stop.is_set():
            for text in texts:
                runner.write(path, text)

    thread = threading.Thread(target=rewrite)
    thread.start()
    try:
        assert {path.read_text(encoding="ascii") for _ in range(300)} <= texts
    finally:
        stop.set()
        thread.join()


def test_a_place_that_is_no_directory(tmp_path: Path) -> None:
    """A file in the way is named, with what to do."""
    (tmp_path / "file").touch()
    with pytest.raises(LabError, match="a part of the path is a file"):
        runner.directory(tmp_path / "file" / "below")
    with pytest.raises(LabError, match="cannot write"):
        runner.write(tmp_path / "file" / "below", "x")


@pytest.mark.lab
def test_a_full_disk_is_said(tmp_path: Path) -> None:
    """On a file system without room, the message says so and names the way out."""
    script = (
        "import sys, pathlib; from chaosk.lab import runner\n"
        "runner.run(['mount', '-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', sys.argv[1]])\n"
        "runner.write(pathlib.Path(sys.argv[1], 'x'), 'y' * 200000)\n"
    )
    done = runner.attempt(
        ["unshare", "--mount", sys.executable, "-c", script, str(tmp_path)],
        environment={"PYTHONPATH": str(Path(runner.__file__).parents[2])},
    )
    assert "LabError" in done.stderr
    assert "the disk is full; free some space or set CHAOSK_STATE" in done.stderr
