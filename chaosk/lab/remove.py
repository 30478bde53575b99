"""Take a lab down, in any state."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import shorten

from chaosk.core.errors import LabError
from chaosk.lab import build, kind_selection, privilege
from chaosk.lab import state as places

LEAVING = 5.0
"""Time-out in seconds for guests to leave: a JVM of a finished run may still be ending."""


def down(name: str, say: Callable[[str], object], *, force: bool = False) -> None:
    """Take the lab ``name`` down without leftovers; succeeds if there is no such lab.

    Raises LabError while other processes (an experiment, a shell) are in its network, unless ``force``.
    """
    state = places.of(name)
    if not privilege.is_root():
        privilege.as_root(["down", "--name", name, *(["--force"] if force else [])], say)
        return
    with places.locked(state.lock, lambda: say(f"waiting for another chaosk that changes the lab {name}")):
        if not state.directory.exists():
            say(f"lab {name}: is not up")
            return
        if not force:
            _refuse_guests(state)
        build.clear(kind_selection.present(state), state)
        say(f"lab {name}: down")


_SHOWN = 100
"""Characters of a command line that are shown: a JVM's has thousands."""


def _refuse_guests(state: places.LabState) -> None:
    leave_by = time.monotonic() + LEAVING
    while (guests := list(_guests(state))) and time.monotonic() < leave_by:
        time.sleep(0.1)
    if guests:
        listed = "; ".join(f"{pid} {shorten(what, _SHOWN, placeholder=' ...')}" for pid, what in guests[:5])
        raise LabError(f"lab {state.name} is in use by {listed}; end that first, or add --force")


def _guests(state: places.LabState) -> Iterator[tuple[int, str]]:
    """Yield pid and command line of processes in the lab's network that are not the lab's or this program's."""
    if not state.namespace_file.exists():
        return
    network = state.namespace_file.stat()
    ours = set(_ancestors(os.getpid()))
    for process in Path("/proc").glob("[0-9]*"):
        try:
            inside = os.path.samestat((process / "ns/net").stat(), network)
            if inside and int(process.name) not in ours and not _in_pid_namespace(process):
                yield int(process.name), _command_line(process)
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue  # it has ended meanwhile, or is protected and so not the lab's


def _in_pid_namespace(process: Path) -> bool:
    """Return whether it is in another PID namespace than this process, or made one: the keeper and below it."""
    own = Path("/proc/self/ns/pid").stat()
    spaces = (process / "ns/pid", process / "ns/pid_for_children")
    return not all(os.path.samestat(space.stat(), own) for space in spaces)


def _command_line(process: Path) -> str:
    return (process / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace").strip()


def _ancestors(pid: int) -> Iterator[int]:
    while pid > 0:
        yield pid
        status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
        pid = int(status.rpartition(")")[2].split()[1])
