"""Files for their owner alone, made anew: never through a symbolic link, never into what is there already."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO

from chaosk.core.errors import UsageError

OTHERS = 0o077
"""What group and others may do with what chaosk writes of a run: nothing."""


def keep_private() -> None:
    """From now on what this process and its children make can be read and written by its owner alone."""
    os.umask(OTHERS)


def fresh(path: Path) -> IO[bytes]:
    """A new file of mode 0600, open for writing; a leftover of that name is removed, not written to. Raises OSError.

    In a run directory that came from elsewhere a draft's name may be a link to a file that is not the run's.
    """
    path.unlink(missing_ok=True)
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600), "wb")


def fresh_text(path: Path, text: str) -> None:
    """Write a new file; as :func:`fresh`."""
    with fresh(path) as file:
        file.write(text.encode())


def replace(path: Path, text: str) -> None:
    """Write a file as a whole or not at all, so that no reader meets half of one; raises OSError."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        fresh_text(draft, text)
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise


def folder(parent: Path, name: str, *, new: bool) -> Path:
    """The folder ``name`` in ``parent``, made with mode 0700 if it is not there; raises OSError.

    ``new``: it must not be there. Raises UsageError where a symbolic link has its name: it leads out of ``parent``.
    """
    path = parent / name
    try:
        path.mkdir(mode=0o700)
    except FileExistsError:
        refuse_link(path)
        if new or not path.is_dir():
            raise
    return path


def refuse_link(path: Path) -> None:
    """Raise UsageError if a symbolic link is there."""
    if path.is_symlink():
        raise UsageError(f"{path}: is a symbolic link, which chaosk does not follow where it writes; remove it")
