"""The names that a run's probes know, where a step of it takes them away."""

from __future__ import annotations

import socket
from pathlib import Path
from tempfile import TemporaryDirectory

from chaosk import names
from chaosk.errors import PreflightError, StepError
from chaosk.inventory import Inventory
from chaosk.steps._contract import Names


class Naming:
    """The names of brokers, as clients are told them; usable from any thread."""

    def __init__(self, inventory: Inventory) -> None:
        """Nothing is laid out before ``open``."""
        self._names = inventory.names()
        self._folder: Path | None = None
        self._silent: socket.socket | None = None

    def check(self) -> None:
        """Raise PreflightError where probes cannot have names of the run's own."""
        with TemporaryDirectory(prefix="chaosk-names-") as folder:
            self.open(Path(folder))
            self.close()

    def open(self, folder: Path) -> None:
        """Lay out the run's own files in ``folder``; raises PreflightError where probes cannot have them."""
        names.lay_out(folder)
        silent = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            silent.bind((names.NOBODY, 53))
        except OSError as error:
            silent.close()
            raise PreflightError(
                f"{names.NOBODY} port 53 cannot be held, where a name server is to be silent: {error.strerror}; run "
                "chaosk as root"
            ) from error
        self._folder, self._silent = folder, silent

    def close(self) -> None:
        """Hold the port of the silent server no longer."""
        if self._silent is not None:
            self._silent.close()
        self._folder = self._silent = None

    def seen(self, command: list[str]) -> list[str]:
        """A probe's command, as it is run."""
        return command if self._folder is None else names.seeing(self._folder, command)

    def change(self, deed: Names) -> None:
        """Carry out a deed; raises StepError if it cannot be."""
        if self._folder is None:
            raise StepError("probes have no names of their own in this run")
        {"refuse": names.refuse, "silence": names.silence, "restore": names.restore}[deed.action](self._folder)

    def unknown(self) -> tuple[str, ...]:
        """The names of brokers that a probe cannot look up now."""
        return names.unknown(self._folder, self._names) if self._names else ()
