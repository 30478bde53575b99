"""The loop of the probe ``call``: one call at a time, in a separate thread that may hang."""

from __future__ import annotations

import os
import queue
import threading
import time
from collections import Counter
from typing import TYPE_CHECKING

import confluent_kafka
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from chaosk.core.errors import UsageError
from chaosk.probes._client import ErrorReporter, settings
from chaosk.probes._operations import UnansweredError, asking
from chaosk.spec.contracts.live import ProbeState
from chaosk.spec.contracts.probe import Workplace

if TYPE_CHECKING:
    from chaosk.probes.call import Call

UNFINISHED = "UNFINISHED"
"""Error of a call that was in progress when the probe was asked to end."""
UNANSWERED = "UNANSWERED"
"""Error of a call with an incomplete answer, for which the client gives no reason."""

_GRACE = 1_000_000_000  # nanoseconds for a call in progress when the probe is asked to end
_NAP = 0.05  # seconds between checks for the end
_TELL_EVERY = 0.2  # seconds
_now = time.monotonic_ns


class CallLoop:
    """One incarnation of a calling probe."""

    def __init__(self, call: Call, place: Workplace) -> None:
        """Raises UsageError for an unknown broker or topic."""
        self._call, self._place = call, place
        self._errors = ErrorReporter(place)
        self._settings = settings(place, {**call.config, **_bootstrap(call, place)}, self._errors)
        self._ask = asking(call, _partitions(call, place))
        self._begun: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._over: queue.SimpleQueue[tuple[int, str | None]] = queue.SimpleQueue()
        self._counts: Counter[str] = Counter()
        self._last_error: str | None = None
        self._told = 0

    def run(self) -> None:
        """Call until stopped, give up a hanging call, and write the end marker."""
        self._began()
        threading.Thread(target=self._serve, daemon=True).start()
        due = _now()
        while not self._place.stopping():
            began = _now()
            if began < due:
                self._keep((due - began) / 1e9)
                continue
            self._begun.put(None)
            self._wait(began)
            due = max(due + round(self._call.every * 1e9), _now())
        self._end()

    # --- the thread that may hang -------------------------------------------------------------------------------------

    def _serve(self) -> None:
        """Make each requested call; a call of librdkafka cannot be interrupted."""
        kept = AdminClient(self._settings) if self._call.client == "kept" else None
        while True:
            self._begun.get()
            # a fresh client is gone before the next call starts, which counts for neither
            self._over.put(self._once(kept or AdminClient(self._settings)))

    def _once(self, client: AdminClient) -> tuple[int, str | None]:
        """Make one call; return its end time, and the name of its error."""
        try:
            self._ask(client)
        except KafkaException as error:
            return _now(), str(error.args[0].name())
        except UnansweredError:
            return _now(), UNANSWERED
        else:
            return _now(), None
        finally:
            client.poll(0)  # deliver its own events

    # --- the one that does not ----------------------------------------------------------------------------------------

    def _wait(self, began: int) -> None:
        """Wait until the call is over, or until the grace period after the probe was asked to end."""
        end: int | None = None
        while True:
            self._keep(0.0)
            try:
                completed, error = self._over.get(timeout=_NAP)
            except queue.Empty:
                end = _now() + _GRACE if end is None and self._place.stopping() else end
                if end is not None and _now() > end:
                    self._written(began, _now(), "info", UNFINISHED)
                    return
            else:
                self._written(began, completed, "ok" if error is None else "fail", error)
                return

    def _written(self, began: int, completed: int, outcome: str, error: str | None) -> None:
        place = self._place
        row = (place.probe, place.incarnation, self._call.operation, began, completed, outcome, error)
        place.log.write("calls", row)
        place.log.flush()
        self._counts[outcome] += 1
        self._last_error = error or self._last_error

    def _keep(self, seconds: float) -> None:
        """Report progress, and sleep for a short time."""
        if _now() - self._told > _TELL_EVERY * 1e9:
            self._place.tell(self._state())
            self._told = _now()
        time.sleep(min(seconds, _NAP))

    # --- beginning, progress and end ----------------------------------------------------------------------------------

    def _began(self) -> None:
        place = self._place
        row = (place.probe, place.incarnation, "call", None, _now(), os.getpid())
        place.log.write("incarnations", (*row, None, None, None, None, None, str(confluent_kafka.libversion()[0])))
        place.log.flush()
        place.tell(self._state())

    def _state(self) -> ProbeState:
        counts = self._counts
        return ProbeState(
            probe=self._place.probe,
            kind="call",
            running=True,
            scheduled=counts.total(),
            ok=counts["ok"],
            fail=counts["fail"],
            info=counts["info"],
            errors=self._errors.count,
            last_error=self._last_error or self._errors.last,
        )

    def _end(self) -> None:
        place, total = self._place, self._counts.total()
        place.log.write("ends", (place.probe, place.incarnation, _now(), total, total))
        place.log.flush()
        place.tell(self._state())


def _bootstrap(call: Call, place: Workplace) -> dict[str, str]:
    """Return the client's bootstrap setting; empty for the inventory's."""
    if call.brokers == "all":
        return {}
    unknown = [broker for broker in call.brokers if broker not in place.brokers]
    if unknown:
        there_are = ", ".join(map(str, place.brokers)) or "none"
        msg = f"{place.probe}: the inventory has no broker {unknown[0]} that clients connect to; it has {there_are}"
        raise UsageError(msg)
    return {"bootstrap.servers": ",".join("{}:{}".format(*place.brokers[broker]) for broker in call.brokers)}


def _partitions(call: Call, place: Workplace) -> int:
    """Return the number of partitions of the topic, if the call has one."""
    if call.topic is None:
        return 0
    if call.topic not in place.partitions:
        msg = f"{place.probe}: {call.topic} is no topic of the scenario"
        raise UsageError(msg)
    return place.partitions[call.topic]
