"""The one line a login shell reads, tried on real shells, and what is read back from it."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from chaosk.hosts.transport import wrap
from chaosk.spec.command import Command

Done = subprocess.CompletedProcess[bytes]
NONCE = "0123456789abcdef"
WORD = st.text(max_size=30).filter(lambda word: "\x00" not in word)
NASTY = [
    "$(touch /tmp/canary)",
    "`id`",
    "a'b",
    'a"b',
    "; rm -rf x",
    "\n",
    "$HOME",
    "*",
    "~",
    "&& false",
    "-n",
    "é\\n",
    "",
]


def shell(line: str, stdin: str = "", shell: str = "sh", env: dict[str, str] | None = None) -> Done:
    """Have a login shell read the line, as sshd would."""
    return subprocess.run(
        [shell, "-c", line], input=stdin.encode(), capture_output=True, check=False, env={**os.environ, **(env or {})}
    )


def answer(command: Command, **more: Any) -> wrap.CommandOutput:
    """The answer of a command run through its line."""
    done = shell(wrap.line(command, NONCE, sudo=False), **more)
    assert wrap.complete(done.stdout, done.stderr, NONCE), done
    found = wrap.unwrap(done.stdout, done.stderr, NONCE)
    assert found is not None
    return found


def run(*argv: str, **more: Any) -> Command:
    """A command on a host that does not matter here."""
    return Command(host="node1", argv=argv, **more)


@given(words=st.lists(WORD, max_size=5))
@example(words=NASTY)
@settings(max_examples=40)
def test_words_arrive_as_they_were(words: list[str]) -> None:
    """Whatever is in an argument, the program gets exactly that: no shell reads it."""
    got = answer(run("sh", "-c", 'for word do printf "%s\\0" "$word"; done', "sh", *words)).stdout
    assert got == "".join(f"{word}\0" for word in words)


@pytest.mark.parametrize("login_shell", [s for s in ("sh", "bash", "dash", "zsh", "busybox") if shutil.which(s)])
def test_every_posix_login_shell_will_do(login_shell: str) -> None:
    """The line means the same to the common login shells."""
    argv = ["busybox", "sh"] if login_shell == "busybox" else [login_shell]
    line = wrap.line(run("printf", "%s|", *NASTY[2:6]), NONCE, sudo=False)
    done = subprocess.run([*argv, "-c", line], capture_output=True, check=True)
    found = wrap.unwrap(done.stdout, done.stderr, NONCE)
    assert found is not None
    assert found.stdout == "".join(f"{word}|" for word in NASTY[2:6])


def test_the_environment_is_three_variables() -> None:
    """Nothing of the login shell's environment gets through but sshd's word on the connection."""
    seen = answer(run("env"), env={"LD_PRELOAD_X": "1", "SSH_CONNECTION": "198.18.0.1 5 198.18.0.11 22"}).stdout
    names = {line.partition("=")[0] for line in seen.splitlines()} - {"PWD", "SHLVL", "_", "OLDPWD"}
    assert names == {"PATH", "LC_ALL", "SSH_CONNECTION"}
    assert "SSH_CONNECTION=198.18.0.1 5 198.18.0.11 22\n" in seen


@pytest.mark.parametrize("status", [0, 1, 3, 100, 255])
def test_status_and_both_streams_come_back(status: int) -> None:
    """Exit status, standard output and standard error are the command's own."""
    got = answer(run("sh", "-c", f"echo out; echo err >&2; exit {status}"))
    assert (got.exit_status, got.stdout, got.stderr) == (status, "out\n", "err\n")


def test_output_without_a_newline_is_kept_as_it_is() -> None:
    """The trailer does not need a line of its own."""
    assert answer(run("printf", "no newline")).stdout == "no newline"


def test_standard_input_reaches_the_command() -> None:
    """What is sent on standard input goes to the command, not to the wrapper."""
    assert answer(run("cat"), stdin="one\ntwo").stdout == "one\ntwo"


def test_what_start_up_files_print_is_dropped() -> None:
    """Noise before the header is not the command's output."""
    done = shell("echo welcome; echo news >&2; " + wrap.line(run("echo", "mine"), NONCE, sudo=False))
    found = wrap.unwrap(done.stdout, done.stderr, NONCE)
    assert found is not None
    assert found.stdout == "mine\n"


def test_times_are_the_hosts() -> None:
    """The stamps enclose the command's own time, in nanoseconds."""
    got = answer(run("sleep", "0.2"))
    assert 0.2e9 <= got.ended - got.started < 2e9


def test_a_hung_command_is_ended_on_the_host() -> None:
    """The host ends it and says so with a status of its own, so it cannot take effect later."""
    got = answer(run("sh", "-c", "echo begun; sleep 30; echo done", timeout=0.3))
    assert (got.exit_status, got.stdout) == (wrap.TIMED_OUT, "begun\n")
    assert got.ended - got.started < 2e9


def test_a_program_that_is_not_there_is_an_answer() -> None:
    """127 and the reason, not a broken connection."""
    got = answer(run("no-such-program"))
    assert got.exit_status == 127
    assert "no-such-program" in got.stderr


def test_sudo_stands_before_a_clean_environment() -> None:
    """Root's command gets the same environment, and sudo never asks for a password."""
    line = wrap.line(run("id", sudo=True), NONCE, sudo=True)
    assert " sudo -n -- env -i PATH=" in line
    assert line.endswith("timeout -k 2 10 id")


@pytest.mark.parametrize(("wanted", "has"), [(True, False), (False, True), (False, False)])
def test_no_sudo_where_it_is_not_needed(wanted: bool, has: bool) -> None:  # noqa: FBT001
    """A command that needs no root, or a login that is root, does without."""
    assert "sudo" not in wrap.line(run("id", sudo=wanted), NONCE, sudo=has)


@given(out=st.binary(max_size=200), err=st.binary(max_size=200), cut=st.integers(0, 400))
def test_half_an_answer_is_none(out: bytes, err: bytes, cut: int) -> None:
    """Only when both trailers are there is it an answer; any prefix of the streams is none."""
    mark = NONCE.encode()
    stdout = mark + b" 1\n" + out + mark + b" 0 2\n"
    stderr = err + mark
    assert wrap.complete(stdout, stderr, NONCE)
    assert wrap.unwrap(stdout[: min(cut, len(stdout) - 1)], stderr, NONCE) is None
    assert wrap.unwrap(stdout, stderr[: min(cut, len(stderr) - 1)], NONCE) is None


@given(out=st.text(max_size=200), err=st.text(max_size=200), status=st.integers(0, 255))
def test_a_whole_answer_is_read_back(out: str, err: str, status: int) -> None:
    """Any text between the marks comes back as it was."""
    stdout = f"noise\n{NONCE} 17\n{out}{NONCE} {status} 23\n".encode(errors="replace")
    stderr = f"{err}{NONCE}".encode(errors="replace")
    said, complained = (text.encode(errors="replace").decode() for text in (out, err))
    got = wrap.unwrap(stdout, stderr, NONCE)
    assert got == wrap.CommandOutput(status, said, complained, started=17, ended=23)


def test_a_sudo_that_asks_is_told_apart_from_the_command() -> None:
    """Its question and the word of a command that has begun are no part of any argument, which sudo quotes."""
    marks = wrap.RootMarks()
    words = wrap.line(run("id", sudo=True), NONCE, sudo=True, marks=marks)
    assert f" sudo -k -S -p {marks.asks} -- env -i PATH=" in words
    assert marks.begun not in words
    assert NONCE not in marks.asks + marks.begun


def test_a_command_says_that_it_has_begun() -> None:
    """Before its own output, and it has the rest of standard error and its input to itself."""
    marks = wrap.RootMarks()
    words = wrap.line(run("sh", "-c", "cat; echo mine >&2", sudo=True), NONCE, sudo=True, marks=marks)
    done = shell(words.replace(f"sudo -k -S -p {marks.asks} -- ", ""), stdin="input")
    assert done.stderr.decode() == f"{marks.begun}mine\n{NONCE}"
    assert b"\ninput" in done.stdout
