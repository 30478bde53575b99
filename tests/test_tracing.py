"""What a trace tells of made-up scripts: everything that a test of the real ones has to see."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from account import AS_ACCOUNT, KAFKA, reached_by_all
from opened import leaves, undeclared
from tracing import QUICK, Known, Touch, traced

pytestmark = pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace; ./dev test sets it up")


def watched(folder: Path, text: str, *words: object, name: str = "reset") -> list[Touch]:
    """What a text does that passes for a script of that name."""
    to = folder / "trace"
    to.mkdir()
    argv = [*QUICK, str(to / "of"), "sh", "-c", text, "chaosk", *map(str, words)]
    subprocess.run(argv, env={"PATH": "/usr/bin:/bin"}, cwd="/", capture_output=True, check=False, timeout=60)
    return [*traced(to, Known({text.rstrip(): name}, leaves))]


def told(touches: list[Touch]) -> list[str]:
    """What is not declared, as it is told; nothing is root's alone."""
    return undeclared(touches, lambda _: False)


def test_what_is_not_declared_is_told_with_script_path_and_program(tmp_path: Path) -> None:
    """Each file by whatever was done to it; what every program opens is passed over."""
    (tmp_path / "read").touch()
    touches = watched(tmp_path, 'cat "$2/read" /etc/passwd >"$2/made"; rm "$2/made"', "end", tmp_path)
    assert told(touches) == [
        f"reset: /usr/bin/cat: read {tmp_path}/read as {os.geteuid()} (in `end {tmp_path}`)",
        f"reset: /usr/bin/rm: remove {tmp_path}/made as {os.geteuid()} (in `end {tmp_path}`)",
        f"reset: /usr/bin/sh: make {tmp_path}/made as {os.geteuid()} (in `end {tmp_path}`)",
    ]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('cd "$2" && cat there/file', "read"),
        ('cat "$2/link/file"', "read"),
        ('cd "$2" && mv there/file there/other && mv there/other there/file', "rename"),
        ('cd "$2" && (cd there && mkdir -p new/folder)', "make"),
        ('chmod 600 "$2/there/file"', "change"),
        ('ls "$2/there"', "list"),
        ('cd "$2/there"', "enter"),
        ('"$2/there/program"', "run"),
        ('env -C "$2" there/program', "run"),
        ('exec 7>>"$2/there/file"', "make"),
        ('dd if=/dev/null of="$2/there/file" conv=notrunc,nocreat', "write"),
        ('ln "$2/there/file" "$2/there/more"', "make"),
        ('ln -s x "$2/there/more"', "make"),
        ('find "$2" -name x | while read -r line; do :; done', "list"),
    ],
)
def test_whatever_is_done_is_seen(tmp_path: Path, text: str, what: str) -> None:
    """By whichever way a path is named: from where the process is, and where a link leads to."""
    there = tmp_path / "there"
    there.mkdir()
    (there / "file").touch()
    (there / "program").write_text("#!/bin/sh\n")
    (there / "program").chmod(0o755)
    (tmp_path / "link").symlink_to(there)
    found = [touch for touch in watched(tmp_path, text, "end", tmp_path) if touch.what == what]
    assert [touch for touch in found if touch.path.startswith(str(there))] != []


def test_a_script_that_runs_another_does_not_answer_for_it(tmp_path: Path) -> None:
    """Each is told what is its own, also what it leaves behind."""
    (tmp_path / "file").touch()
    inner = 'cat "$1" & wait'
    outer = 'sh -c "$2" chaosk "$1"; cat "$1"; exit'
    to = tmp_path / "trace"
    to.mkdir()
    argv = [*QUICK, str(to / "of"), "sh", "-c", outer, "chaosk", str(tmp_path / "file"), inner]
    subprocess.run(argv, capture_output=True, check=True, timeout=60)
    found = traced(to, Known({inner: "lock", outer: "lease"}, leaves))
    assert sorted(touch.script for touch in found if touch.path == str(tmp_path / "file")) == ["lease", "lock"]


def test_what_the_operators_program_opens_is_not_the_scripts(tmp_path: Path) -> None:
    """That it is run is told, and that is all."""
    (tmp_path / "file").touch()
    program = tmp_path / "start.sh"
    program.write_text(f"#!/bin/sh\ncat {tmp_path}/file\n")
    program.chmod(0o755)
    words = ("start", "script", "/nonexistent", "", "", program, program)
    touches = watched(tmp_path, 'shift 6; "$@"', *words, name="service")
    assert [touch.what for touch in touches if touch.path == str(program)] == ["run"]
    assert not any(touch.path == str(tmp_path / "file") for touch in touches)


@pytest.mark.lab
def test_as_whom_something_is_done_counts(tmp_path: Path) -> None:
    """What is declared for a server's account is told if root does it."""
    with reached_by_all() as made:
        (made / "meta.properties").touch()
        words = ("is", "script", "/nonexistent", "", "1", "", made)
        for begin, expected in (((), 1), (AS_ACCOUNT, 0)):
            shutil.rmtree(tmp_path / "trace", ignore_errors=True)
            text = f'shift 6; {" ".join(begin)} cat "$1/meta.properties"'
            touches = watched(tmp_path, text, *words, name="identity")
            assert {touch.uid for touch in touches if "meta" in touch.path} == {KAFKA if begin else 0}
            assert len(told(touches)) == expected


@pytest.mark.lab
def test_a_link_counts_where_another_account_could_have_put_it(tmp_path: Path) -> None:
    """By one that is root's alone a declared path is where it leads; by another one it is not declared."""
    (tmp_path / "real").write_text("")
    (tmp_path / "client").symlink_to("real")
    touches = watched(tmp_path, 'cat "$3"', "put", "/nonexistent", tmp_path / "client", name="certificate")
    assert undeclared(touches, lambda _: True) == []
    assert len(told(touches)) == 2


def test_a_value_stands_for_one_place_only() -> None:
    """A star is one name, and a word of the script's is itself, whatever is in it."""
    words = ("wipe", "0a", "/da*ta", "script", "/run/pid", "")

    def allowed(what: str, path: str) -> bool:
        touch = Touch("wipe", words, "/", what, path, "/usr/bin/x", 0)
        return told([touch]) == []

    assert allowed("rename", "/da*ta")
    assert not allowed("rename", "/data")
    assert not allowed("rename", "/da*ta/x")
    assert allowed("list", "/da*ta/x/y")
    assert allowed("make", "/da*ta.chaosk-0a/new/meta.properties")
    assert not allowed("make", "/da*ta.chaosk-0b/new")
    assert allowed("make", "/var/lib/chaosk/wiped/0a.new")
    assert not allowed("make", "/var/lib/chaosk/wiped/0a/b")
    assert allowed("read", "/proc/17/stat")
    assert not allowed("read", "/proc/x/stat")
    assert not allowed("read", "/run/pid")
