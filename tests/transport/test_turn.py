"""What a kept shell reads, tried on real shells: one command after the other, whole or not at all."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from chaosk.hosts.transport import wrap
from chaosk.spec.command import Command

from .test_wrap import NASTY, NONCE, WORD, run


def fed(text: str | bytes, *, shell: str = "sh", **more: Any) -> subprocess.CompletedProcess[bytes]:
    """What a login shell that was made a kept shell says, given all that it reads."""
    data = text.encode() if isinstance(text, str) else text
    return subprocess.run([shell, "-c", wrap.shell(root=False)], input=data, capture_output=True, check=False, **more)


def answers(*commands: Command) -> list[wrap.CommandOutput | None]:
    """The answers of commands that one shell ran in turn, each read from what came after the one before."""
    nonces = [f"{NONCE}{number}" for number in range(len(commands))]
    done = fed("".join(wrap.turn(command, nonce) for command, nonce in zip(commands, nonces, strict=True)))
    found, out, err = [], done.stdout, done.stderr
    for nonce in nonces:
        ends = out.rfind(nonce.encode()), err.find(nonce.encode()) + len(nonce)
        cut = out.index(b"\n", ends[0]) + 1
        assert wrap.complete(out[:cut], err[: ends[1]], nonce)
        found.append(wrap.unwrap(out[:cut], err[: ends[1]], nonce))
        out, err = out[cut:], err[ends[1] :]
    return found


@given(words=st.lists(WORD, max_size=5))
@example(words=NASTY)
@settings(max_examples=30)
def test_words_arrive_as_they_were(words: list[str]) -> None:
    """Whatever is in an argument, the program gets exactly that: the shell does not read it as code."""
    got, after = answers(run("sh", "-c", 'for w do printf "%s\\0" "$w"; done', "sh", *words), run("echo", "next"))
    assert got is not None
    assert after is not None
    assert (got.stdout, after.stdout) == ("".join(f"{word}\0" for word in words), "next\n")


@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_what_arrives_in_part_does_nothing(tmp_path: Path, shell: str) -> None:
    """A connection that breaks while a command is handed over, at any byte of it, does not run a part of it."""
    turn = wrap.turn(run("rm", "-rf", f"{tmp_path}/kept", f"{tmp_path}/gone", "a\nb"), NONCE).encode()
    for name in ("kept", "gone"):
        (tmp_path / name).touch()
    for length in range(len(turn) - 2):
        assert not wrap.began(fed(turn[:length], shell=shell).stdout, NONCE)
    assert (tmp_path / "kept").exists()
    assert (tmp_path / "gone").exists()
    assert wrap.began(fed(turn, shell=shell).stdout, NONCE)
    assert not (tmp_path / "gone").exists()


def test_a_command_does_not_read_the_next_ones() -> None:
    """Its standard input is empty, not the shell's."""
    got, after = answers(run("cat"), run("echo", "next"))
    assert got is not None
    assert after is not None
    assert (got.stdout, after.stdout) == ("", "next\n")


def test_status_streams_and_times_are_those_of_a_session_of_its_own() -> None:
    """Whether a shell is kept or not, a command's answer is the same."""
    done = run("sh", "-c", "echo out; echo err >&2; sleep 0.2; exit 7"), run("nothing-of-the-kind")
    got, absent = answers(*done)
    assert got is not None
    assert absent is not None
    assert (got.exit_status, got.stdout, got.stderr) == (7, "out\n", "err\n")
    assert 0.2e9 <= got.ended - got.started < 2e9
    assert (absent.exit_status, absent.stdout) == (127, "")


def test_a_hung_command_is_ended_on_the_host() -> None:
    """And the shell goes on with the next."""
    got, after = answers(run("sh", "-c", "echo begun; sleep 30", timeout=0.3), run("echo", "next"))
    assert got is not None
    assert after is not None
    assert (got.exit_status, got.stdout, after.stdout) == (wrap.TIMED_OUT, "begun\n", "next\n")


def test_the_environment_is_three_variables() -> None:
    """The same as in a session of its own."""
    done = fed(
        wrap.turn(run("env"), NONCE), env={"LD_X": "1", "PATH": wrap.PATH, "SSH_CONNECTION": "198.18.0.1 5 x 22"}
    )
    found = wrap.unwrap(done.stdout, done.stderr, NONCE)
    assert found is not None
    names = {line.partition("=")[0] for line in found.stdout.splitlines()} - {"PWD", "SHLVL", "_", "OLDPWD"}
    assert names == {"PATH", "LC_ALL", "SSH_CONNECTION"}
    assert "SSH_CONNECTION=198.18.0.1 5 x 22\n" in found.stdout


def test_roots_shell_never_asks_for_a_password() -> None:
    """As root it is started by sudo, with the same environment."""
    assert wrap.shell(root=True).startswith("exec sudo -n -- env -i PATH=")
    assert "sudo" not in wrap.shell(root=False)


def test_roots_shell_says_that_it_has_begun() -> None:
    """Where sudo may ask for a password, so that a turn is not taken for one; then it is like any other."""
    marks = wrap.RootMarks()
    line = wrap.shell(root=True, marks=marks).replace(f"sudo -k -S -p {marks.asks} -- ", "")
    done = subprocess.run(
        ["sh", "-c", line], input=wrap.turn(run("echo", "x"), NONCE).encode(), capture_output=True, check=False
    )
    assert done.stderr.decode() == f"{marks.begun}{NONCE}"
    assert wrap.began(done.stdout, NONCE)
