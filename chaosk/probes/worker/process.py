"""One probe's process, from the run's point of view."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from pydantic import ValidationError

from chaosk.core.errors import EventLogError
from chaosk.core.spare import Spares
from chaosk.probes.worker.child import Child
from chaosk.probes.worker.spec import FILE, WorkerSpec
from chaosk.spec.contracts.live import ProbeState

MODULE = "chaosk.probes.worker"
"""What a probe's process runs."""


class ProbeProcess(Child):
    """Starts a probe's process and keeps its last reported state."""

    def __init__(
        self, spec: WorkerSpec, seen: Callable[[list[str]], list[str]] = list, spares: Spares | None = None
    ) -> None:
        """Starts it; spec, events and stderr are in ``spec.live``, which it creates. Raises ChaoskError on failure.

        ``seen`` maps its command to the one that is executed, which becomes the process in the end. A process of
        ``spares`` is used if there is one.
        """
        self._said = ProbeState(probe=spec.probe, kind=spec.kind, running=True)
        super().__init__(MODULE, _written(spec), self._hear, seen, spares)

    def state(self) -> ProbeState:
        """Return its last reported state, and whether it still runs or is paused."""
        status = self.exit_status()
        frozen = status is None and self.frozen()
        return self._said.model_copy(update={"running": status is None, "exit_status": status, "frozen": frozen})

    def _hear(self, line: str) -> None:
        with suppress(ValidationError):  # a line cut short by a kill
            self._said = ProbeState.model_validate_json(line)


def _written(spec: WorkerSpec) -> Path:
    path = Path(spec.live) / FILE
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(spec.model_dump_json(indent=1) + "\n", "utf-8")
    except OSError as error:
        raise EventLogError(f"{path}: cannot write it: {error.strerror}") from error
    return path
