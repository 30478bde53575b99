"""The names that a run's probes know, where a step of it takes them away or has them lead elsewhere."""

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
    """The names of brokers, as clients are told them; usable from any thread.

    What probes are told the others of the run follow only as far as names lead elsewhere: where they are taken away,
    chaosk itself still has to see. The watcher has files of its own for that, this process asks :meth:`find`.
    """

    def __init__(self, inventory: Inventory) -> None:
        """Nothing is laid out before ``open``."""
        self._names = inventory.names()
        self._folder: Path | None = None
        self._silent: socket.socket | None = None
        self._moved: dict[str, str] = {}

    def check(self) -> None:
        """Raise PreflightError where probes cannot have names of the run's own."""
        with TemporaryDirectory(prefix="chaosk-names-") as folder:
            self.open(Path(folder))
            self.close()

    def open(self, folder: Path) -> None:
        """Lay out the run's own files in ``folder``; raises PreflightError where probes cannot have them."""
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
        """Hold the port of the silent server no longer."""
        if self._silent is not None:
            self._silent.close()
        self._folder = self._silent = None
        self._moved = {}

    def seen(self, command: list[str]) -> list[str]:
        """A probe's command, as it is run."""
        return command if self._folder is None else resolver.seeing(self._folder, command)

    def followed(self, command: list[str]) -> list[str]:
        """The watcher's command, as it is run."""
        return command if self._folder is None else resolver.seeing(self._folder / _FOLLOWED, command)

    def find(self, name: str) -> str:
        """What this process connects to for a broker's name or address: where it was moved, or itself."""
        return self._moved.get(name, name)

    def change(self, deed: Names) -> None:
        """Carry out a deed; raises StepError if it cannot be."""
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
        """The names of brokers that a probe cannot look up now."""
        return resolver.unknown(self._folder, self._names) if self._names else ()

    def addresses(self, name: str) -> tuple[str, ...]:
        """Where a name leads a probe now."""
        return resolver.addresses(self._folder, [name])[name]
