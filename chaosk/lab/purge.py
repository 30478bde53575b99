"""Remove the files that chaosk keeps on this machine beside its labs: Kafka's jars, disk images, caches."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from chaosk.core.cache import cache
from chaosk.core.errors import LabError
from chaosk.lab import privilege, remove, state

SHARED = ("kafka", "images", "labs")
"""Folders that the labs of a machine share, below :func:`chaosk.lab.state.state_root`."""


def places() -> Iterator[Path]:
    """Yield the files to remove beside labs: the shared folders, and this account's class archives for Spark."""
    yield from (place for name in SHARED if (place := state.state_root() / name).exists())
    if cache().exists():
        yield cache()


def purge(say: Callable[[str], object], *, force: bool = False) -> None:
    """Take every lab down, and remove the shared folders and this account's caches.

    Leases of all clusters are kept: ``chaosk heal`` and ``chaosk halt`` need them. Raises LabError while a lab is in
    use, unless ``force``, and if a file cannot be removed.
    """
    if not privilege.is_root() and any(place != cache() for place in places()):
        privilege.as_root(["purge", "--yes", *(["--force"] if force else [])], say)
    elif privilege.is_root():
        for name in state.names():
            remove.down(name, say, force=force)
        _refuse_changes()
    for place in list(places()):
        _remove(place, say)
    _leave(state.state_root(), say)


def _refuse_changes() -> None:
    """Raise LabError while a lab is being put up: it needs the shared files, and may have no state yet."""
    for lock in sorted((state.state_root() / "labs").glob(".*.lock")):
        if state.is_held(lock):
            name = lock.name.removeprefix(".").removesuffix(".lock")
            raise LabError(f"the lab {name} is being changed by another chaosk; purge when that is done")
    if names := state.names():
        raise LabError(f"the lab {names[0]} was started during the purge; purge again")


def size(place: Path) -> int:
    """Return the bytes of all files at and below a path; links are not followed."""
    if place.is_symlink() or place.is_file():
        return place.lstat().st_size
    return sum(each.lstat().st_size for each in place.rglob("*") if each.is_symlink() or each.is_file())


def _remove(place: Path, say: Callable[[str], object]) -> None:
    freed = size(place)
    try:
        if place.is_symlink():
            place.unlink()
        elif place.name == "labs":  # unheld locks; rmdir fails if a lab came up meanwhile
            for lock in place.glob(".*.lock"):
                lock.unlink()
            place.rmdir()
        else:
            shutil.rmtree(place)
    except OSError as error:
        raise LabError(f"{place}: cannot be removed: {error.strerror or error}") from error
    say(f"removed {place}: {freed / 1e6:,.0f} MB")


def _leave(root: Path, say: Callable[[str], object]) -> None:
    """Remove the state directory if it is empty, otherwise report its content."""
    if not root.is_dir():
        return
    if left := sorted(each.name for each in root.iterdir()):
        say(f"{root} stays, with {', '.join(left)}: leases of clusters, which `chaosk heal` may need")
    elif privilege.is_root():
        root.rmdir()
