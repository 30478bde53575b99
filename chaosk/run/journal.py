"""The journal of undos on disk: a fault that is not written down is not injected.

It is a record for people. ``chaosk heal`` does not need it: it undoes faults by the leases that their hosts keep
(:mod:`chaosk.hosts.heal`).
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from chaosk.core.errors import StepError
from chaosk.spec.contracts.step import PreparedFault


class Journal:
    """One file per armed fault, ``<n>-<name>.json``; its name ends with ``.done`` once the undo is verified."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[str, Path] = {}

    def arm(self, fault: PreparedFault) -> None:
        """Write the fault and its undo, and sync it to disk; raises StepError on failure."""
        path = self._folder / f"{len(self._files):03d}-{fault.name}.json"
        try:
            with path.open("x", encoding="utf-8") as file:
                file.write(fault.model_dump_json(indent=1))
                file.flush()
                os.fsync(file.fileno())
            self._sync_folder()
        except OSError as error:
            raise StepError(
                f"{path}: the undo of {fault.name} cannot be written ({error.strerror}), so it is not injected; "
                "free some space or name another place with --output"
            ) from error
        self._files[fault.name] = path

    def disarm(self, name: str) -> None:
        """Mark a fault as undone; a full disk is ignored."""
        path = self._files.get(name)
        if path is not None:
            with suppress(OSError):
                path.rename(path.with_suffix(".done"))

    def _sync_folder(self) -> None:
        descriptor = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
