"""The process of one probe: ``python -m chaosk.probes.worker SPEC.json``, or ``-`` for one that is assigned later.

SIGTERM ends it cleanly, and so does the death of its parent. On stdout it reports its state, one JSON object per line;
lines are dropped if the reader does not read. On stderr it writes librdkafka's log and errors as JSON lines; SIGUSR2
adds stack traces of its threads, to debug a hang.
"""

from __future__ import annotations

import faulthandler
import gc
import json
import os
import signal
import sys
import threading
from contextlib import suppress
from pathlib import Path

from chaosk.core.errors import ChaoskError
from chaosk.core.plugins import discover
from chaosk.core.spare import WAIT, assigned
from chaosk.probes.worker.flusher import flushed
from chaosk.probes.worker.lifeline import wake_with_parent, watch_parent
from chaosk.probes.worker.spec import WorkerSpec, read
from chaosk.rundir.events.arrow import warm_up
from chaosk.rundir.events.heartbeat import heartbeats
from chaosk.rundir.events.live import LiveLog
from chaosk.spec.contracts.live import ProbeState
from chaosk.spec.contracts.probe import Probe, Workplace

_STDOUT = 1
_LONGEST_LINE = 4000  # bytes; below PIPE_BUF a pipe takes a line completely or not at all


def main(arguments: list[str]) -> int:
    """Work until stopped; the exit status is 0 after a clean end."""
    if arguments[0] == WAIT:
        discover("chaosk.probes", Probe)
        warm_up()
    path = assigned(arguments[0])
    ending = threading.Event()
    signal.signal(signal.SIGTERM, lambda _number, _frame: ending.set())
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # chaosk itself handles Ctrl-C: it ends its probes in order
    faulthandler.register(signal.SIGUSR2)
    wake_with_parent()
    watch_parent(ending.set)
    os.set_blocking(_STDOUT, False)
    try:
        _work(read(path), ending)
    except ChaoskError as error:
        print(json.dumps({"level": "error", "event": str(error)}), file=sys.stderr)  # noqa: T201 - the process's log
        return int(error.exit_code)
    return 0


def _work(spec: WorkerSpec, ending: threading.Event) -> None:
    probe, client = spec.load(), spec.settings()
    warm_up()
    # A collection stops the schedule for milliseconds. Loaded objects stay, and the loops make no cycles.
    gc.collect()
    gc.freeze()
    gc.disable()
    with LiveLog(Path(spec.live), spec.run_id) as log, flushed(log), heartbeats(log, Path(spec.live).name):
        who = (spec.run_id, spec.probe, spec.incarnation)
        probe.work(Workplace(*who, client, log, ending.is_set, _tell, spec.brokers, spec.partitions))


def _tell(state: ProbeState) -> None:
    line = state.model_dump_json().encode() + b"\n"
    if len(line) < _LONGEST_LINE:
        with suppress(BlockingIOError, BrokenPipeError):
            os.write(_STDOUT, line)


if __name__ == "__main__":
    status = main(sys.argv[1:])
    sys.stderr.flush()
    os._exit(status)  # without librdkafka's destructors, which wait for brokers that do not answer
