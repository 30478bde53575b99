"""What clients' ``linger.ms`` costs a lab, and how soon a record is acknowledged.

``python bench linger [MS...] [--hosts vms] [--rate 200] [--seconds 20] [--rounds 3]``: needs root. A lab is put up. In
each round, for each value one after the other, an idempotent producer writes at that rate with ``acks=all`` to three
partitions of three replicas, and a consumer commits what each poll brings (``--reader no`` leaves it out). Medians over
the rounds, of processors: what the lab's own processes took, and what the clients did.
"""

from __future__ import annotations

import argparse
import resource
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from statistics import median, quantiles
from typing import NamedTuple

from confluent_kafka import Consumer, Message, Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from chaosk import lab
from chaosk.document import load_inventory
from chaosk.lab.namespace import inside
from chaosk.lab.state import LabState, state_root
from chaosk.spec.inventory import Inventory
from chaosk.spec.lab_layout import LabLayout

NAME, TOPIC = "linger", "bench"
WARM = 8.0
"""Seconds at that rate before anything is measured: leaders are known, and the group has its partitions."""
TICKS = 100
"""Of the kernel's in a second, in which it counts processes' time."""


class Figures(NamedTuple):
    """Of one value in one round."""

    lab: float
    """Processors that the lab took."""
    clients: float
    middle: float
    """Milliseconds until an acknowledgement, the median."""
    slow: float
    """The same of the slowest tenth, at least."""


def below(pid: int) -> Iterator[int]:
    """A process and all that descend from it."""
    yield pid
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text("ascii").split():
                yield from below(int(child))


def used_by(pid: int) -> float:
    """Seconds of processor time of a process and its descendants so far."""
    total = 0
    for each in below(pid):
        with suppress(OSError):
            total += sum(map(int, Path(f"/proc/{each}/stat").read_text("ascii").rpartition(")")[2].split()[11:13]))
    return total / TICKS


def used_here() -> float:
    """Seconds of processor time of this process so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


@contextmanager
def reading(servers: str) -> Iterator[None]:
    """A consumer that commits what each poll brings, meanwhile."""
    over = threading.Event()
    settings = {"bootstrap.servers": servers, "group.id": f"bench-{time.monotonic_ns()}", "enable.auto.commit": False}
    consumer = Consumer({**settings, "auto.offset.reset": "latest"})
    consumer.subscribe([TOPIC])

    def read() -> None:
        while not over.is_set():
            if consumer.consume(500, 0.5):
                consumer.commit(asynchronous=False)

    thread = threading.Thread(target=read)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        consumer.close()


def write(producer: Producer, rate: float, seconds: float, took: list[float]) -> None:
    """Records of 100 bytes at that rate; by each how many milliseconds its acknowledgement took."""

    def told(at: float, error: object, _message: Message) -> None:
        if error is not None:
            raise SystemExit(f"a record was not written: {error}")
        took.append((time.monotonic() - at) * 1e3)

    began = time.monotonic()
    for number in range(int(rate * seconds)):
        while (left := began + number / rate - time.monotonic()) > 0:
            producer.poll(left)
        producer.produce(TOPIC, bytes(100), on_delivery=partial(told, time.monotonic()))


def measured(servers: str, keeper: int, linger: float, options: argparse.Namespace) -> Figures:
    """One value, once."""
    settings = {"bootstrap.servers": servers, "acks": "all", "enable.idempotence": True, "linger.ms": linger}
    producer, took = Producer(settings), list[float]()
    with reading(servers) if options.reader == "yes" else nullcontext():
        write(producer, options.rate, WARM, [])
        producer.flush()
        began, theirs, mine = time.monotonic(), used_by(keeper), used_here()
        write(producer, options.rate, options.seconds, took)
        seconds = time.monotonic() - began
        figures = ((used_by(keeper) - theirs) / seconds, (used_here() - mine) / seconds)
        producer.flush()
    return Figures(*figures, median(took), quantiles(took, n=10)[-1])


def rounds(inventory: Inventory, keeper: int, options: argparse.Namespace) -> dict[float, list[Figures]]:
    """All values in turn, as often as there are rounds."""
    servers = inventory.bootstrap_servers()
    topic = NewTopic(TOPIC, 3, 3, config={"min.insync.replicas": "2"})
    admin = AdminClient({"bootstrap.servers": servers})
    for made in admin.create_topics([topic]).values():
        made.result()
    found: dict[float, list[Figures]] = {each: [] for each in options.ms}
    for _ in range(options.rounds):
        for each in options.ms:
            found[each].append(measured(servers, keeper, each, options))
    return found


def say(line: str) -> None:
    """What the lab tells: not part of the result."""
    print(line, file=sys.stderr, flush=True)


def main() -> None:
    """Put a lab up, measure, take it down."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ms", nargs="*", type=float, default=[5.0, 50.0])
    parser.add_argument("--hosts", choices=("hosts", "vms"), default="hosts")
    parser.add_argument("--rate", type=float, default=200.0)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--reader", choices=("yes", "no"), default="yes")
    options = parser.parse_args()
    path = lab.up(LabLayout(name=NAME, hosts=options.hosts), say)
    try:
        inventory = load_inventory(path)
        if not isinstance(inventory, Inventory):
            raise SystemExit(f"{path}: not the inventory of a lab that is up")
        keeper = int(LabState(state_root(), NAME).keeper("pid").read_text("ascii").split()[0])
        work: Callable[[], dict[float, list[Figures]]] = partial(rounds, inventory, keeper, options)
        found = inside(f"chaosk-{NAME}", work)
    finally:
        lab.down(NAME, say, force=True)
    print("linger.ms   lab  clients  acknowledged after, median / nine tenths within")
    for value, each in found.items():
        middle = Figures(*(median(column) for column in zip(*each, strict=True)))
        print(f"{value:9g} {middle.lab:5.2f} {middle.clients:8.2f}  {middle.middle:6.0f} ms / {middle.slow:.0f} ms")


if __name__ == "__main__":
    main()
