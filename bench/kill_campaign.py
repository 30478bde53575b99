"""Kills chaosk with SIGKILL at every point of every fault's life and watches the hosts heal themselves.

``python bench kill_campaign [--n 84] [--seed 1] [--lease 5] [--lab NAME] [--hosts vms] [--output FILE]``. A lab is put
up whose servers have a supervisor each, a loop or on virtual machines systemd, that starts them again; each trial
runs one fault by chaosk's own engine in a process that dies at a named point, or is killed at a random time, on one of
three hosts; three trials run side by side. From then on only the host is asked: its firewall, with rules of a user's
own, qdiscs and services have to be as they were before. Leases last --lease seconds, and those of faults that ask a
broker to stop so much longer that they cover the stop. One line of JSON a trial goes to FILE; trials that are in it
already are not run again. Ends with 1 if any host was not healed, or too late.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import IO, Any, cast

from chaosk import lab
from chaosk.document import load_inventory
from chaosk.hosts import fingerprint
from chaosk.hosts.heal import find, heal
from chaosk.hosts.transport.ssh import Ssh
from chaosk.lab.namespace import inside
from chaosk.spec.command import Command
from chaosk.spec.inventory import Inventory, SystemdService
from chaosk.spec.lab_layout import LabLayout

POINTS = ("before_arm", "armed", "injected", "verified", "healing", "disarming", "random")
STEPS: dict[str, dict[str, Any]] = {
    "cut_network": {"between": ["host(broker {b})", "everyone else"]},
    "pause_broker": {"target": "broker {b}"},
    "reject_one_way": {"between": ["broker {b}", "everyone else"], "direction": "in", "action": "reject"},
    "kill_zookeeper": {"target": "zookeeper {z}"},
    "kill_zookeeper_supervised": {"target": "zookeeper {z}", "restart": "supervised"},
    "stop_zookeeper": {"target": "zookeeper {z}"},
    "restart_zookeeper": {"target": "zookeeper {z}"},
    "kill_broker": {"target": "broker {b}"},
    "kill_broker_supervised": {"target": "broker {b}", "restart": "supervised"},
    "restart_broker": {"target": "broker {b}"},
    "stop_broker": {"target": "broker {b}"},
    "fill_disk": {"target": "broker {b}", "size": "64MiB"},
    "burn_cpu": {"target": "broker {b}", "share": "1 %"},
    "eat_memory": {"target": "broker {b}", "size": "64MiB"},
    "lose_packets": {"between": ["host(broker {b})", "everyone else"], "share": "20 %"},
    "change_owner": {"target": "broker {b}"},
    "remount_read_only": {"target": "broker {b}"},
    "cut_from_zookeeper": {"between": ["broker {b}", "zookeepers"]},
    "limit_bandwidth": {"between": ["host(broker {b})", "everyone else"], "rate": "1Mbit/s"},
    "change_address": {"target": "broker {b}", "address": "198.18.0.9{b}"},
}
"""By name, the step's fields. A restart harms for a moment only, so its place has it killed there early on."""
KINDS = {
    "reject_one_way": "cut_network", "cut_from_zookeeper": "cut_network",
    "kill_zookeeper_supervised": "kill_zookeeper", "kill_broker_supervised": "kill_broker",
}  # fmt: skip
CLEAN_STOP = {"stop_broker": 15.0, "restart_broker": 15.0}
"""Seconds that a broker may need to hand its leaderships over while others of its cluster are harmed: it asks the
controller three times, five seconds apart (Kafka's controlled.shutdown.max.retries and .retry.backoff.ms)."""
SLACK = {
    "cut_network": 1.0, "reject_one_way": 1.0, "lose_packets": 1.0, "cut_from_zookeeper": 1.0,
    "kill_zookeeper": 7.0, "kill_zookeeper_supervised": 7.0, "kill_broker": 7.0, "kill_broker_supervised": 7.0,
}  # fmt: skip
"""Seconds after the end of its lease by which a host must have undone a fault; 2 s where a process is started, and five
more where its supervisor does that."""
SLOWER = 15.0
"""Seconds more on virtual machines: a reload of systemd and a start of Java take that long there, emulated."""
ON_VMS = ("kill_", "pause_", "stop_", "restart_")
"""What is tried on virtual machines begins so: the faults for which systemd is a supervisor."""
USERS_RULES = (
    ("-A", "INPUT", "-s", "192.0.2.33/32", "-j", "DROP"),
    ("-A", "OUTPUT", "-d", "192.0.2.34/32", "-j", "DROP"),
)
UNITS = 'systemctl cat -- "$@" && systemctl show -p Restart,RestartUSec,DropInPaths,NeedDaemonReload -- "$@"'
PATIENCE = 120.0
AT_ONCE = 1.0
"""Seconds after the kill in which a host is looked at without a pause: a restart harms it for no longer."""
BETWEEN = 0.4
"""Seconds between two looks from then on: each starts a dozen programs on the host."""


@dataclass(frozen=True)
class Trial:
    """What is to be done, decided by its number and the seed."""

    number: int
    step: str
    point: str
    host: str
    broker: int
    zookeeper: int
    delay: float
    """Seconds after its start at which a victim of the point ``random`` is killed."""


@dataclass(frozen=True)
class Look:
    """One look at a host; seconds are counted from the kill."""

    began: float
    ended: float
    same: bool
    """Whether it was as before."""


@dataclass(frozen=True)
class Outcome:
    """What became of a trial. Seconds are counted from the kill."""

    trial: Trial
    harmed: bool
    """Whether the host was ever seen to be another than before."""
    since: float
    """When it was first seen so: a broker that was asked to stop serves on while it hands its leaderships over."""
    undone: float
    """When the host had acted: the first time it was as before, after it was not."""
    whole: float
    """From when on it stayed as before: a broker may end once more until its old session is over."""
    differences: tuple[str, ...]
    """What is left at the end; empty is healed."""
    late: bool
    leases: tuple[str, ...]
    """What the host told of its leases at the end."""


def trials(count: int, seed: int, steps: Sequence[str] = tuple(STEPS)) -> Iterator[Trial]:
    """Every step at every point on every host, over and over: their number and the points' have no common divisor.

    The hosts are two points apart, so that two rounds already have one of every step that surely harms its host.
    """
    draw = random.Random(seed)  # noqa: S311 - repeatable, not secret
    for number in range(count):
        turn, where = divmod(number, 3)
        step, point = steps[turn % len(steps)], POINTS[(turn + 2 * where) % len(POINTS)]
        yield Trial(number, step, point, f"node{where + 1}", where, where + 1, round(draw.uniform(0.3, 4.5), 2))


class Field:
    """The lab's hosts, asked by a transport of the campaign's own."""

    def __init__(self, path: Path, lease: float) -> None:
        self.path, self.lease = path, lease
        found = load_inventory(path)
        if not isinstance(found, Inventory):
            raise SystemExit(f"{path}: not the inventory of a lab that is up")
        self.inventory = found
        self.ssh = Ssh(found.hosts)
        self.before = dict.fromkeys(found.hosts, "")

    def length(self, trial: Trial) -> float:
        """Seconds that the lease of a trial lasts."""
        return self.lease + CLEAN_STOP.get(trial.step, 0.0)

    def inventory_of(self, length: float) -> Path:
        """Where the lab's inventory with a longest lease of that length is: beside it, as its paths are relative."""
        return self.path.with_name(f"campaign-{length:g}.yaml")

    def state(self, host: str) -> str:
        """What the host is like, the units of its servers and how systemd has them included."""
        found = self.ssh.run(fingerprint.ask(self.inventory, host)).stdout
        every = self.inventory.every_process()
        units = [one.service.systemd for one in every if one.host == host and isinstance(one.service, SystemdService)]
        if not units:
            return found
        asked = Command(host=host, argv=("sh", "-c", UNITS, "sh", *units), sudo=True, timeout=60.0)
        return found + self.ssh.run(asked).stdout

    @property
    def machines(self) -> bool:
        """Whether its hosts are virtual machines, where all takes longer."""
        return any(isinstance(one.service, SystemdService) for one in self.inventory.every_process())

    def root(self, host: str, *argv: str) -> None:
        """Run a command that must succeed."""
        result = self.ssh.run(Command(host=host, argv=argv, sudo=True))
        if not result.ok:
            raise SystemExit(f"{host}: {' '.join(argv)}: {result.stderr}")

    def prepare(self) -> None:
        """Give each host rules of a user's own; what they are like then is what they have to be like again."""
        for length in {self.lease + more for more in (0.0, *CLEAN_STOP.values())}:
            words = f"{self.path.read_text('utf-8')}\nlongest_lease: {length:g}s\n"
            self.inventory_of(length).write_text(words, "utf-8")
        for host in self.inventory.hosts:
            for rule in USERS_RULES:
                self.root(host, "iptables", *rule)
            self.before[host] = self.state(host)

    def run(self, trial: Trial, folder: Path, mother: subprocess.Popen[str]) -> Outcome:
        """One trial: the victim lives and dies, the host heals."""
        killed = self.kill(trial, folder, mother)
        looks: list[Look] = []
        while True:
            began = time.monotonic()
            same = self.state(trial.host) == self.before[trial.host]
            looks.append(Look(began - killed, time.monotonic() - killed, same))
            if (same and not self.awaited(trial.host)) or looks[-1].ended > PATIENCE:
                break
            time.sleep(0.0 if looks[-1].ended < AT_ONCE else BETWEEN)
        told = heal(self.ssh, [trial.host])
        left = fingerprint.changes(self.before[trial.host], self.state(trial.host))
        return self.judged(trial, looks, left, tuple(f"{one.state}: {one.what}" for one in told))

    def awaited(self, host: str) -> bool:
        """Whether a lease there has not done its work yet, or the host does not tell."""
        leases = find(self.ssh, [host])[host]
        return isinstance(leases, str) or any(one.state != "healed" for one in leases)

    def judged(self, trial: Trial, looks: list[Look], left: tuple[str, ...], leases: tuple[str, ...]) -> Outcome:
        """Put together what was seen; late is what a look that began too late still found harmed.

        The lease has to cover a clean stop, as those of a run do: a broker that hands its leaderships over is still
        there for some seconds, and cannot be started before it is gone.
        """
        harmed = [place for place, look in enumerate(looks) if not look.same]
        undone = next((place for place in range(harmed[0], len(looks)) if looks[place].same), None) if harmed else None
        whole = next((look.ended for look in looks[harmed[-1] :] if look.same), PATIENCE) if harmed else 0.0
        at = looks[undone].ended if undone is not None else PATIENCE if harmed else 0.0
        last = looks[undone - 1 if undone is not None else -1].began if harmed else 0.0
        since = looks[harmed[0]].ended if harmed else 0.0
        late = last > self.length(trial) + SLACK.get(trial.step, 2.0) + (SLOWER if self.machines else 0.0)
        return Outcome(trial, bool(harmed), round(since, 2), round(at, 2), round(whole, 2), left, late, leases)

    def kill(self, trial: Trial, folder: Path, mother: subprocess.Popen[str]) -> float:
        """Let a victim of ``mother`` run until it is dead; when that was, on the monotonic clock."""
        fields = {
            name: [each.format(b=trial.broker, z=trial.zookeeper) for each in value] if isinstance(value, list)
            else value.format(b=trial.broker, z=trial.zookeeper)
            for name, value in STEPS[trial.step].items()
        }  # fmt: skip
        kind = KINDS.get(trial.step, trial.step)
        lasts = {} if kind.startswith("restart") else {"for": "60s"}
        spec = {
            "inventory": str(self.inventory_of(self.length(trial))), "folder": str(folder),
            "run": f"campaign-{trial.number}", "entry": {"name": "fault", kind: fields, **lasts},
            "point": "never" if trial.point == "random" else trial.point, "patience": round(PATIENCE),
        }  # fmt: skip
        print(json.dumps(spec), file=mother.stdin, flush=True)
        victim = int(_line(mother))
        if trial.point == "random":
            time.sleep(trial.delay)
            with suppress(ProcessLookupError):  # it has ended
                os.kill(victim, signal.SIGKILL)
        status = int(_line(mother))
        dead = time.monotonic()
        if status not in (-9, 0):
            words = (folder / "victim").read_text("utf-8")
            raise SystemExit(f"trial {trial.number} ({trial.step}, {trial.point}): the victim failed: {words[-2000:]}")
        return dead


def _line(mother: subprocess.Popen[str]) -> str:
    """What the mother of victims prints next."""
    return cast("IO[str]", mother.stdout).readline()


def recorded(output: Path) -> dict[int, dict[str, Any]]:
    """The trials that a former campaign has written, by number."""
    lines = output.read_text("utf-8").splitlines() if output.is_file() else []
    rows = [json.loads(line) for line in lines]
    return {row["trial"]["number"]: row for row in rows}


def campaign(field: Field, count: int, seed: int, output: Path) -> dict[int, dict[str, Any]]:
    """Run what is not recorded yet, the hosts side by side."""
    rows, lock, over = recorded(output), threading.Lock(), threading.Event()
    steps = [step for step in STEPS if not field.machines or step.startswith(ON_VMS)]
    todo = [trial for trial in trials(count, seed, steps) if trial.number not in rows]
    field.prepare()

    def work(host: str) -> None:
        words = [sys.executable, str(Path(__file__).with_name("_victim.py"))]
        with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as mother:
            for trial in (each for each in todo if each.host == host):
                if over.is_set():
                    break
                with tempfile.TemporaryDirectory() as folder:
                    row = asdict(field.run(trial, Path(folder), mother))
                with lock, output.open("a", encoding="utf-8") as file:
                    rows[trial.number] = row
                    file.write(json.dumps(row) + "\n")

    with ThreadPoolExecutor(len(field.inventory.hosts)) as pool:
        hosts = [pool.submit(work, host) for host in field.inventory.hosts]
        ended, _ = wait(hosts, return_when=FIRST_EXCEPTION)
        over.set()  # for the other hosts, if one of them failed
        for host in ended:
            host.result()
    field.ssh.close()
    return rows


def report(rows: list[dict[str, Any]], lease: float) -> int:
    """Print a table by step; the exit code."""
    unhealed = [row for row in rows if row["differences"]]
    late = [row for row in rows if row["late"]]
    print(f"{'step':25} {'kills':>5} {'harmed':>6} {'undone after, median/max':>25} {'unhealed':>8} {'late':>4}")
    steps = [step for step in STEPS if any(row["trial"]["step"] == step for row in rows)]
    for step in steps:
        mine = [row for row in rows if row["trial"]["step"] == step]
        times = [row["undone"] for row in mine if row["harmed"]] or [0.0]
        print(
            f"{step:25} {len(mine):5} {sum(row['harmed'] for row in mine):6} {median(times):17.2f} / {max(times):5.2f}"
            f" {sum(bool(row['differences']) for row in mine):8} {sum(row['late'] for row in mine):4}"
        )
    harmless = [step for step in steps if not any(row["harmed"] for row in rows if row["trial"]["step"] == step)]
    print(f"{len(rows)} kills, leases of {lease:g} s and of clean stops: {len(unhealed)} not healed, {len(late)} late")
    for row in unhealed + late:
        print(json.dumps(row))
    if harmless:
        print(f"nothing is shown of {', '.join(harmless)}: no host was ever harmed by them")
    return 1 if unhealed or late or harmless else 0


def _say(line: str) -> None:
    print(line, file=sys.stderr)


def main() -> int:
    """Put a lab up, run the campaign in its network, take it down."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=84)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--lease", type=float, default=5.0)
    parser.add_argument("--lab", default="campaign")
    parser.add_argument("--hosts", choices=["hosts", "vms"], default="hosts")
    parser.add_argument("--output", type=Path, default=Path("kill_campaign.jsonl"))
    options = parser.parse_args()
    layout = LabLayout(name=options.lab, names=True, hosts=options.hosts, supervised=options.hosts == "hosts")
    inventory = lab.up(layout, _say)
    try:
        name = f"chaosk-{options.lab}"
        rows = inside(name, lambda: campaign(Field(inventory, options.lease), options.n, options.seed, options.output))
        return report(sorted(rows.values(), key=lambda row: row["trial"]["number"]), options.lease)
    finally:
        lab.down(options.lab, _say)


if __name__ == "__main__":
    sys.exit(main())
