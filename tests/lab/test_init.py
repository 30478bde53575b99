"""Process 1 of a lab and of its hosts, in parts; as a whole the tests of build and remove run it."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from chaosk.lab import init


def test_it_needs_nothing_but_the_standard_library() -> None:
    """A host has a root of its own: nothing installed beside Python may be imported."""
    tree = ast.parse(Path(init.__file__).read_text(encoding="utf-8"))
    imported = {
        (node.module or "" if isinstance(node, ast.ImportFrom) else alias.name).split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    assert imported <= sys.stdlib_module_names


def test_carry_out_stops_at_the_first_failure(tmp_path: Path) -> None:
    """Commands run in order; one that fails ends the process with its words on one line."""
    with pytest.raises(SystemExit, match=r"^ls /nowhere: exit status 2: ls: .*No such file or directory$"):
        init.carry_out([["touch", str(tmp_path / "a")], ["ls", "/nowhere"], ["touch", str(tmp_path / "b")]])
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_reap_returns_all_that_ended() -> None:
    """Every child that has ended is reported once with its status, and none is waited for."""
    script = (
        "import os, time\n"
        "from chaosk.lab import init\n"
        "children = {os.spawnvp(os.P_NOWAIT, 'sh', ['sh', '-c', f'exit {n}']) for n in (0, 3)}\n"
        "living = os.spawnvp(os.P_NOWAIT, 'sleep', ['sleep', '60'])\n"
        "found = []\n"
        "while len(found) < 2: found += init.reap(); time.sleep(0.01)\n"
        "print(sorted(os.waitstatus_to_exitcode(status) for _, status in found), dict(found).keys() == children)\n"
        "print(init.reap())\n"
        "os.kill(living, 9); os.waitpid(living, 0)\n"
        "print(init.reap())\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[0, 3] True\n[]\n[]\n"


def test_a_child_wakes_the_loop() -> None:
    """The descriptor becomes readable when a child ends, so that the loop never polls."""
    script = (
        "import select, subprocess, time\n"
        "from chaosk.lab import init\n"
        "woken = init.wake_on_child()\n"
        "quiet = select.select([woken], [], [], 0.1)[0]\n"
        "child = subprocess.Popen(['true'])\n"
        "heard = select.select([woken], [], [], 20)[0]\n"
        "child.wait()\n"
        "print(quiet == [], heard == [woken])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "True True\n"


def test_note_pid(tmp_path: Path) -> None:
    """The number is that of the proc file system mounted now."""
    init.note_pid(tmp_path / "pid")
    assert (tmp_path / "pid").read_text(encoding="ascii") == f"{os.getpid()}\n"


def keeper(directory: Path, argv: list[str]) -> init.Keeper:
    """A keeper of one host, whose process 1 is ``argv`` and whose disk is a file."""
    (directory / "node1").mkdir()
    return init.Keeper(directory, {"node1": argv}, {"node1": [["touch", str(directory / "disk")]]})


def await_burial(kept: init.Keeper) -> None:
    """Let the keeper reap until no host runs."""
    deadline = time.monotonic() + 20
    while kept.running:
        kept.bury()
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_the_keeper_notes_the_end_of_a_host(tmp_path: Path) -> None:
    """When a host ends, its pid file goes, its status is kept, and it can be started again."""
    kept = keeper(tmp_path, ["sh", "-c", "echo last words; exit 7"])
    (tmp_path / "node1" / "pid").write_text("1\n", encoding="ascii")
    kept.launch("node1")
    await_burial(kept)
    assert (tmp_path / "disk").exists()
    assert not (tmp_path / "node1" / "pid").exists()
    assert (tmp_path / "node1" / "exit").read_text(encoding="ascii") == "7\n"
    kept.launch("node1")
    await_burial(kept)
    assert (tmp_path / "node1" / "log").read_text(encoding="ascii") == "last words\n" * 2


def test_the_keeper_starts_a_host_once(tmp_path: Path) -> None:
    """A request for a host that runs is answered by doing nothing."""
    kept = keeper(tmp_path, ["sleep", "0.3"])
    kept.launch("node1")
    running = dict(kept.running)
    kept.launch("node1")
    assert kept.running == running
    await_burial(kept)


@pytest.mark.lab
def test_namespaces_of_others_are_let_go(tmp_path: Path) -> None:
    """The keeper unmounts copies of namespace files: they would keep the network of another lab alive after its end."""
    file = tmp_path / "net"
    file.touch()
    script = (
        "import json, sys; from chaosk.lab import init\n"
        "before = init.namespace_files()\n"
        "init.let_go([*before, '/nowhere'])\n"
        "print(json.dumps([before, init.namespace_files()]))\n"
    )
    subprocess.run(["unshare", f"--net={file}", "true"], check=True)
    try:
        argv = ["unshare", "--mount", sys.executable, "-c", script]
        done = subprocess.run(argv, capture_output=True, text=True, check=True)
    finally:
        subprocess.run(["umount", str(file)], check=True)
    before, after = json.loads(done.stdout)
    assert str(file) in before
    assert after == []
