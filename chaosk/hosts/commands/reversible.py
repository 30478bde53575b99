"""Changes of hosts that a host can undo: each is one constant script with five commands, run as root there. Pure.

``which`` is the id of the script's note on the host. The header of each script says what its actions do.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from chaosk.core.errors import StepError
from chaosk.hosts.commands import service
from chaosk.hosts.localhost import boot_id
from chaosk.hosts.scripts import script_command
from chaosk.spec.command import Command
from chaosk.spec.inventory import ServerProcess

How = Literal["size", "free"]
"""``size``: the size of the file in bytes; ``free``: the bytes that it leaves free."""
Kind = Literal["cpu", "memory"]
Owner = Literal["nobody", "root"]
"""Accounts that every host has. Nobody logs in as one of them, so nobody gains access."""
Ill = tuple[str, ...]
"""The fault of a disk: ``slow`` and the extra milliseconds of a read and of a write, ``all`` or ``writes``."""


class Reversible(NamedTuple):
    """The commands of one change of a host."""

    fits: Command
    """Check that the host can take the change, and undo it."""
    put: Command
    """Make the change; repeating it changes nothing more."""
    stands: Command
    """Check that the change is in place."""
    lift: Command
    """Undo the change, if it was made."""
    gone: Command
    """Check that there is nothing to undo."""


def address(host: str, which: str, address: str, ports: Iterable[int]) -> Reversible:
    """Give the host another address, which is unused so far; its servers on the TCP ports must accept any address.

    The check for an address in use waits three seconds for an answer.
    """
    made = _reversible("address fits add there remove gone", host, which, address)
    return made._replace(fits=script_command(host, "address", "fits", which, address, *map(str, ports), timeout=30.0))


def clock(host: str, which: str, by: str) -> Reversible:
    """Move the wall clock of a host that has its own one, or make it drift.

    ``by`` is a number of milliseconds, or of millionths of elapsed time such as ``50000ppm``; a negative value is
    backwards. A drift has to run under a lease and ends with it. Raises StepError if this machine's boot id is unknown:
    any clock may be this machine's then. The script starts some dozens of programs, which is slow on a busy machine.
    """
    if not boot_id():
        raise StepError("this machine does not tell its boot id; no clock is moved unless it is known to be another's")
    return _reversible("clock fits move moved restore restored", host, which, boot_id(), by, of_undo=1, timeout=60.0)


def corrupt(process: ServerProcess, folder: str, which: str, log: str) -> Reversible:
    """Overwrite bytes in the middle of the newest segment of a partition's log, while the server does not run.

    Once the server has recovered the log, nothing is left to undo. Before a log is restored, a server that was told to
    stop has to end.
    """
    words = (which, folder, *service.place(process), log)
    return _reversible("corrupt fits corrupt recovered mend mended", process.host, *words, timeout=120.0)


def fill(host: str, folder: str, mark: str, how: How, size: int) -> Reversible:
    """Fill a data directory by a file in it: brokers ignore all that is no directory.

    Writing is slow on a file system that cannot reserve blocks.
    """
    file = f"{folder.rstrip('/')}/chaosk-fill-{mark}"
    made = _reversible("disk fits fill filled empty gone", host, file, how, str(size), of_undo=1, timeout=20.0)
    return made._replace(put=made.put.model_copy(update={"timeout": 90.0}))


def load(host: str, kind: Kind, which: str, much: str) -> Reversible:
    """Load processors or memory: ``much`` busy loops or KiB, or parts per million such as ``500000ppm``.

    The load has to run under a lease and ends with it.
    """
    return _reversible("load fits put stands lift gone", host, kind, which, much, of_undo=2, timeout=20.0)


def mapped(process: ServerProcess, folder: str, own: str, which: str, ill: Ill) -> Reversible:
    """Make the disk under a data directory slow or failing, by another table of device-mapper.

    ``own`` is the boot id of the machine that runs chaosk: a device of its kernel is never changed. A disk may be slow
    to answer. After failures, the undo kills the server, and checks and repairs the file system.
    """
    words = (own, which, folder, *service.place(process), *ill)
    made = _reversible("mapper fits put stands lift gone", process.host, *words, timeout=60.0)
    return made._replace(lift=made.lift.model_copy(update={"timeout": 180.0}))


def oom_kill(process: ServerProcess, own: str, lease: str) -> Reversible:
    """Make the kernel kill a server as if memory were short, under a lease; the undo restores its oom_score_adj.

    ``own`` is the boot id of the machine that runs chaosk.
    """
    words = (own, lease, *service.place(process))
    made = _reversible("oom fits kill killed spare spared", process.host, *words)
    return made._replace(put=made.put.model_copy(update={"repeatable": False}))


def owned_by(host: str, folder: str, which: str, owner: Owner) -> Reversible:
    """Give all files of the folder's owner below the folder to another account: there may be many thousand segments."""
    return _reversible(
        "owner fits change changed restore restored", host, folder, which, owner, of_undo=2, timeout=60.0
    )


def read_only(process: ServerProcess, folder: str, which: str) -> Reversible:
    """Make a data directory read-only, in the mount namespace of the server."""
    words = (which, folder, *service.place(process))
    return _reversible("readonly fits put stands lift gone", process.host, *words)


def wipe(process: ServerProcess, folder: str, which: str) -> Reversible:
    """Set a data directory aside, with an empty one in its place, while the server does not run.

    The undo puts the original directory back, unless the server was started without it.
    """
    words = (which, folder, *service.place(process))
    return _reversible("wipe fits wipe stands settle settled", process.host, *words, timeout=120.0)


def discard(process: ServerProcess, folder: str, which: str, *, keep: bool) -> Command:
    """Delete the directory that a wipe has set aside, or rename it to ``FOLDER.kept-ID`` and print that.

    It fails if the directory is still needed.
    """
    words = (which, folder, *service.place(process))
    return script_command(process.host, "wipe", "keep" if keep else "discard", *words, timeout=120.0)


def _reversible(actions: str, host: str, *words: str, of_undo: int | None = None, timeout: float = 30.0) -> Reversible:
    """Return the commands of a script; ``actions``: its name and those of its five actions, in order.

    The last two get only the first ``of_undo`` words.
    """
    name, *five = actions.split()
    told = (words, words, words, words[:of_undo], words[:of_undo])
    pairs = zip(five, told, strict=True)
    return Reversible(*(script_command(host, name, action, *its, timeout=timeout) for action, its in pairs))
