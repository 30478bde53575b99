"""The host names of brokers as a run's probes resolve them, if a step makes them unknown or moves them."""

from __future__ import annotations

import socket
from pathlib import Path
from tempfile import TemporaryDirectory

from chaosk.core.errors import PreflightError, StepError
from chaosk.hosts import resolver
from chaosk.spec.contracts.step import Names
from chaosk.spec.inventory import Inventory

_FOLLOWED = "followed"


class Naming:
    """The names of brokers; usable from any thread.

    If a step moves names, the rest of the run follows. If a step makes them unknown, only the probes are affected,
    since chaosk itself still has to observe the cluster. The watcher has files of its own for that, this process calls
    :meth:`find`.
    """

    def __init__(self, inventory: Inventory) -> None:
        """Create no files; that is for ``open``."""
        self._names = inventory.names()
        self._folder: Path | None = None
        self._silent: socket.socket | None = None
        self._moved: dict[str, str] = {}

    def check(self) -> None:
        """Raise PreflightError if this machine cannot give probes names of their own."""
        with TemporaryDirectory(prefix="chaosk-names-") as folder:
            self.open(Path(folder))
            self.close()

    def open(self, folder: Path) -> None:
        """Create the run's name files in ``folder``; raises PreflightError if probes cannot have them."""
        resolver.lay_out(folder)
        resolver.lay_out(folder / _FOLLOWED)
        silent = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        silent.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)  # runs on other clusters may hold it as well
        try:
            silent.bind((resolver.NOBODY, 53))
        except OSError as error:
            silent.close()
            raise PreflightError(
                f"{resolver.NOBODY} port 53 cannot be held, where a name server is to be silent: {error.strerror}; run "
                "chaosk as root"
            ) from error
        self._folder, self._silent = folder, silent

    def close(self) -> None:
        """Release the port of the silent name server."""
        if self._silent is not None:
            self._silent.close()
        self._folder = self._silent = None
        self._moved = {}

    def seen(self, command: list[str]) -> list[str]:
        """Return a probe's command, with the run's names in effect."""
        return command if self._folder is None else resolver.seeing(self._folder, command)

    def followed(self, command: list[str]) -> list[str]:
        """Return the watcher's command, with the run's moved names in effect."""
        return command if self._folder is None else resolver.seeing(self._folder / _FOLLOWED, command)

    def find(self, name: str) -> str:
        """Return the address for a broker's name in this process: its new address if it was moved, else the name."""
        return self._moved.get(name, name)

    def change(self, deed: Names) -> None:
        """Execute a deed; raises StepError on failure."""
        if self._folder is None:
            raise StepError("probes have no names of their own in this run")
        match deed:
            case Names(action="refuse"):
                resolver.refuse(self._folder)
            case Names(action="silence"):
                resolver.silence(self._folder)
            case Names(action="move", to=str(to)):
                for folder in (self._folder / _FOLLOWED, self._folder):
                    resolver.move(folder, deed.names, to)
                self._moved = dict.fromkeys(deed.names, to)
            case Names():
                for folder in (self._folder, self._folder / _FOLLOWED):
                    resolver.restore(folder)
                self._moved = {}

    def unknown(self) -> tuple[str, ...]:
        """Return the names of brokers that a probe cannot resolve now."""
        return resolver.unknown(self._folder, self._names) if self._names else ()

    def addresses(self, name: str) -> tuple[str, ...]:
        """Return the addresses to which a name resolves for a probe now."""
        return resolver.addresses(self._folder, [name])[name]
