"""What a probe is: settings from YAML, and a loop in a process of its own that writes events until told to end."""

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
    """Where a probe writes events; rows are tuples in the table's column order (``chaosk.rundir.events``)."""

    def write(self, table: str, row: tuple[Any, ...]) -> None:
        """Append one row; cheap, kept in memory until the next flush."""
        ...

    def write_columns(self, table: str, rows: int, columns: Mapping[str, Any]) -> None:
        """Append many rows at once, by column; a scalar stands for all rows, a column not named is empty."""
        ...

    def due(self) -> bool:
        """Whether a row has waited so long that the log must be flushed now."""
        ...

    def flush(self) -> None:
        """Hand all rows to the operating system: from then on they outlive the process."""
        ...


@dataclass(frozen=True, slots=True)
class Workplace:
    """What the worker hands to a probe's loop."""

    run_id: str
    probe: str
    incarnation: int
    client: Mapping[str, Any]
    """librdkafka settings from the inventory, secrets resolved."""
    log: EventLog
    stopping: Callable[[], bool]
    """Whether the probe was told to end cleanly."""
    tell: Callable[[ProbeState], None]
    """Report progress; call it every 200 ms or so."""
    brokers: Mapping[int, Address] = field(default_factory=dict)
    """By broker id where clients connect to."""
    partitions: Mapping[str, int] = field(default_factory=dict)
    """By topic of the scenario how many it has."""


class Probe(Model, ABC):
    """One kind of probe. Its YAML name is its file name, its YAML keys are its fields."""

    example: ClassVar[str]
    writes: ClassVar[bool] = False
    """Whether it writes records: such probes end first, so that the others can read all there is."""

    started_by: Literal["run", "step"] = "run"
    """``run``: before the baseline. ``step``: not before a ``start_probe``, and then at once, whatever there is."""

    must_fail: MustFail | None = None
    """When nothing it tries may succeed: ``always``, ``fenced``, or from an entry on, like ``{after: twice}``."""

    @abstractmethod
    def topics(self) -> tuple[str, ...]:
        """The topics it reads or writes, none for one that does neither: each must be one of the scenario's."""

    def reads(self) -> tuple[str, ...]:
        """The topics among them that it reads, if it is a reader."""
        return () if self.writes else self.topics()

    def groups(self) -> tuple[str, ...]:
        """The consumer groups it commits for."""
        return ()

    def transacts(self) -> tuple[str, ...]:
        """The topics it writes to in transactions."""
        return ()

    def transactional_ids(self, name: str) -> tuple[str, ...]:  # noqa: ARG002 - for those that have one
        """The ``transactional.id`` that a probe of that name writes with, none for one without transactions."""
        return ()

    @abstractmethod
    def work(self, place: Workplace) -> None:
        """Run until told to end; writes ``incarnations`` when ready and ``ends`` at a clean end."""
