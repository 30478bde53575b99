"""Implausible data directories in an inventory: steps wipe them, fill them, and give them to other accounts."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from pathlib import PurePosixPath

from chaosk.document.nodes import Mapping, Node, Path, Scalar, Sequence, SourcePosition, descend
from chaosk.document.parse import Found

PROCESSES = ("brokers", "zookeepers", "controllers")
"""Blocks of an inventory that list the processes of the cluster."""
_SHARED = frozenset(
    {
        "/", "/home", "/media", "/mnt", "/opt", "/root", "/run", "/srv", "/tmp", "/usr", "/usr/local", "/var",  # noqa: S108 - none is written to
        "/var/cache", "/var/lib", "/var/log", "/var/run", "/var/spool", "/var/tmp",  # noqa: S108 - the same
    }
)  # fmt: skip
"""Directories that many programs share; a data directory may be below one."""
_SYSTEM = (
    "/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/proc", "/sbin", "/sys", "/usr/bin",
    "/usr/include", "/usr/lib", "/usr/sbin", "/usr/share",
)  # fmt: skip
"""Directories that contain no data at any depth."""
_REMEDY = "write the value of log.dirs or dataDir from its configuration, or leave `data` out"


def folders(root: Node) -> Iterator[Found]:
    """Yield the mistakes in the data directories of an inventory, each with its place in the file."""
    every = tuple(_data(root))
    for _, _, folder, path, place in every:
        if (why := _unfit(folder)) is not None:
            yield place, path, f"{folder} {why}; {_REMEDY}"
    for (host, owner, folder, path, place), (other_host, other, inner, *_) in permutations(every, 2):
        if host == other_host and owner != other and _holds(folder, inner):
            what = "is" if folder == inner else f"holds {inner},"
            yield place, path, f"{folder} {what} the data directory of {other} on the same host; {_REMEDY}"
    for host, _, folder, path, place in every:
        for kind, (other_host, other, file) in _files(root):
            if host == other_host and _holds(folder, file):
                what = (
                    f"{folder} holds {file}, the {kind} file of {other}: a step that empties it would take that along"
                )
                yield place, path, f"{what}; {_REMEDY}"


_Data = tuple[str, str, PurePosixPath, Path, SourcePosition]
"""Host, process, directory, and its path and place in the file."""


def _data(root: Node) -> Iterator[_Data]:
    for host, owner, path in _processes(root):
        listed = descend(root, (*path, "data"))
        for number, item in enumerate(listed.items if isinstance(listed, Sequence) else ()):
            if isinstance(item, Scalar) and isinstance(item.value, str) and item.value.startswith("/"):
                yield host, owner, PurePosixPath(item.value), (*path, "data", number), item.place


def _files(root: Node) -> Iterator[tuple[str, tuple[str, str, PurePosixPath]]]:
    """Yield the log and configuration file of every process, with its host and name."""
    for host, owner, path in _processes(root):
        for key, kind in (("log", "log"), ("config", "configuration")):
            node = descend(root, (*path, key))
            if isinstance(node, Scalar) and isinstance(node.value, str):
                yield kind, (host, owner, PurePosixPath(node.value))


def _processes(root: Node) -> Iterator[tuple[str, str, Path]]:
    """Yield host, name and path of every process, like ``node1``, ``broker 0``."""
    for block in PROCESSES:
        listed = descend(root, (block,))
        for name in listed.values if isinstance(listed, Mapping) else ():
            host = descend(root, (block, name, "host"))
            if isinstance(host, Scalar):
                yield str(host.value), f"{block.removesuffix('s')} {name}", (block, name)


def _unfit(folder: PurePosixPath) -> str | None:
    """Return the reason why a directory cannot be a data directory; None if it can be."""
    if ".." in folder.parts:
        return "has .. in it, so it may be anything"
    if str(folder) in _SHARED or str(folder.parent) == "/home":
        return "is not one program's alone"
    if any(_holds(PurePosixPath(system), folder) for system in _SYSTEM):
        return "is the system's own"
    return None


def _holds(folder: PurePosixPath, other: PurePosixPath) -> bool:
    return other.is_relative_to(folder)
