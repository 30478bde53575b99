"""Contract of probes: settings from YAML, and a loop in its own process that writes events until it is stopped."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol

from chaosk.core.model import Model
from chaosk.spec.contracts.live import ProbeState
from chaosk.spec.must_fail import MustFail

Address = tuple[str, int]
"""Host and port."""


class EventLog(Protocol):
    """The destination of a probe's events; rows are tuples in the table's column order (``chaosk.rundir.events``)."""

    def write(self, table: str, row: tuple[Any, ...]) -> None:
        """Append one row; cheap, because it stays in memory until the next flush."""
        ...

    def write_columns(self, table: str, rows: int, columns: Mapping[str, Any]) -> None:
        """Append many rows at once, by column; a scalar applies to all rows, a missing column is empty."""
        ...

    def due(self) -> bool:
        """Return True if the oldest row has waited so long that the log must be flushed now."""
        ...

    def flush(self) -> None:
        """Write all rows to the operating system, so that they outlive the process."""
        ...


@dataclass(frozen=True, slots=True)
class Workplace:
    """Everything that the worker gives to a probe's loop."""

    run_id: str
    probe: str
    incarnation: int
    client: Mapping[str, Any]
    """librdkafka settings from the inventory, secrets resolved."""
    log: EventLog
    stopping: Callable[[], bool]
    """Returns True once the probe was asked to end cleanly."""
    tell: Callable[[ProbeState], None]
    """Report progress; call it every 200 ms or so."""
    brokers: Mapping[int, Address] = field(default_factory=dict)
    """The address to which clients connect, by broker id."""
    partitions: Mapping[str, int] = field(default_factory=dict)
    """Number of partitions, by topic of the scenario."""


class Probe(Model, ABC):
    """One kind of probe. Its YAML name is its file name, its YAML keys are its fields."""

    example: ClassVar[str]
    writes: ClassVar[bool] = False
    """True for a probe that writes records: it ends first, so that the others can read all of them."""

    started_by: Literal["run", "step"] = "run"
    """``run``: before the baseline. ``step``: by a ``start_probe``, without waiting for a healthy cluster."""

    must_fail: MustFail | None = None
    """The period in which no attempt may succeed: ``always``, ``fenced``, or from an entry on, like ``{after:
    twice}``."""

    @abstractmethod
    def topics(self) -> tuple[str, ...]:
        """The topics it reads or writes, if any: each must be one of the scenario's."""

    def reads(self) -> tuple[str, ...]:
        """The topics that it reads."""
        return () if self.writes else self.topics()

    def groups(self) -> tuple[str, ...]:
        """The consumer groups for which it commits."""
        return ()

    def membership(self) -> Mapping[str, Any] | None:
        """The client settings with which it is a member of a group that is given partitions; None if it is not."""
        return None

    def transacts(self) -> tuple[str, ...]:
        """The topics to which it writes in transactions."""
        return ()

    def transactional_ids(self, name: str) -> tuple[str, ...]:  # noqa: ARG002 - for those that have one
        """The ``transactional.id`` of each producer of a probe with that name; empty without transactions."""
        return ()

    @abstractmethod
    def work(self, place: Workplace) -> None:
        """Run until stopped; write ``incarnations`` when ready, and ``ends`` at a clean end."""
