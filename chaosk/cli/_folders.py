"""The folder of several runs that belong together, and of their common reports."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from chaosk.core.errors import UsageError


def new_folder(output: Path, kind: str) -> Path:
    """Return the path of a new folder for a report and its runs."""
    return output / datetime.now(UTC).strftime(f"{kind}-%Y-%m-%dT%H-%M-%SZ")


def made(folder: Path) -> Path:
    """Create the folder if necessary, and return its resolved path; raises UsageError if that fails."""
    folder = folder.resolve()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder}: cannot make it: {error.strerror}; name another place with --output") from error
    return folder
