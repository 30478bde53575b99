"""Private files, always created new: never through a symbolic link, never into an existing file."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import IO

from chaosk.core.errors import UsageError

OTHERS = 0o077
"""Permission bits of group and others, which files of a run never get."""


def keep_private() -> None:
    """Set the umask so that files of this process and its children are readable and writable by their owner only."""
    os.umask(OTHERS)


def fresh(path: Path) -> IO[bytes]:
    """Open a new file of mode 0600 for writing; a leftover of that name is removed first. Raises OSError.

    A run directory from elsewhere may contain a link under the draft's name, to a file outside the run.
    """
    path.unlink(missing_ok=True)
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600), "wb")


def fresh_text(path: Path, text: str) -> None:
    """Write a new file; as :func:`fresh`."""
    with fresh(path) as file:
        file.write(text.encode())


def replace(path: Path, text: str, *, parents: bool = False) -> None:
    """Replace a file atomically, so that a reader never sees half of it. Raises UsageError on failure.

    ``parents``: create the folders that are missing.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        if parents:
            path.parent.mkdir(parents=True, exist_ok=True)
        fresh_text(draft, text)
        draft.replace(path)
    except OSError as error:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise UsageError(f"{path}: cannot write it: {error.strerror}; make room or fix the permissions") from error


def folder(parent: Path, name: str, *, new: bool) -> Path:
    """Return the folder ``name`` in ``parent``, created with mode 0700 if it is missing. Raises OSError.

    ``new``: it must not exist yet. Raises UsageError if the name is a symbolic link, which would lead out of
    ``parent``.
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
    """Raise UsageError if ``path`` is a symbolic link."""
    if path.is_symlink():
        raise UsageError(f"{path}: is a symbolic link, which chaosk does not follow where it writes; remove it")
