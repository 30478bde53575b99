"""Build a lab: make what is missing, start what does not run, wait until everything answers."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import yaml

from chaosk.core.errors import LabError
from chaosk.core.parallel import parallel_map
from chaosk.lab import (
    archive,
    health,
    installations,
    jars,
    kind_selection,
    lab,
    launchers,
    linger,
    namespace,
    power,
    preflight,
    privilege,
    runner,
    secure,
    ssh_files,
    unit,
)
from chaosk.lab import state as places
from chaosk.lab.kept_hosts import KeptHosts
from chaosk.lab.lab import Lab
from chaosk.lab.namespace_hosts import NamespaceHosts
from chaosk.lab.seating import Seat
from chaosk.lab.service import HostFile, Service
from chaosk.spec.lab_layout import LabLayout

Say = Callable[[str], object]

_SERVICE_TIMEOUT = 120.0


def up(layout: LabLayout, say: Say) -> Path:
    """Put the lab up, or repair it; returns the path of its inventory.

    A lab that is up and healthy is not changed. ``say`` gets progress messages. Raises LabError with a remedy, and
    UsageError for a contradictory layout.
    """
    wanted = lab.describe(layout, places.of(layout.name))
    if not privilege.is_root():
        return privilege.up(layout, say)
    preflight.check(len(wanted.seats))
    state = wanted.state
    waiting = f"waiting for another chaosk that changes the lab {layout.name}"
    with places.locked(state.lock, lambda: say(waiting)), runner.open_to_all():
        return _up(wanted, kind_selection.kind_of(wanted), say)


def _up(wanted: Lab, kind: KeptHosts, say: Say) -> Path:
    state = wanted.state
    started = time.monotonic()
    if kind.alive():
        _same(wanted)
        namespace.check(state.namespace_file)
        _hosts(wanted, kind, say)
    else:
        clear(kind, state)
        _create(wanted, kind, say)
    _services(wanted, kind, say)
    if not state.inventory.exists():
        if wanted.layout.secure:
            secure.admit(state, [seat for seat in wanted.seats if seat.broker is not None])
        _write_inventory(wanted)
    say(f"lab {state.name}: {wanted.title}: ready ({time.monotonic() - started:.1f} s)")
    return state.inventory


def _same(wanted: Lab) -> None:
    present = lab.read(wanted.state)
    if present is None or _essence(present) != _essence(wanted):
        name = wanted.state.name
        other = present.title if present is not None else "unknown"
        raise LabError(
            f"lab {name} is up with another layout ({other}); do: chaosk lab down --name {name}, or take another --name"
        )


def _essence(one: Lab) -> tuple[object, ...]:
    has = one.layout
    return one.mode, one.seats, has.kafka, has.also, has.broker_config, has.broker_overrides, has.hosts, has.secure


def clear(kind: KeptHosts, state: places.LabState) -> None:
    """Remove a lab completely, also the leftovers of an interrupted start."""
    if state.directory.exists():
        kind.destroy()
        shutil.rmtree(state.directory)
    namespace.forget_names(state.names_file)
    shutil.rmtree(state.root / "clusters" / state.name, ignore_errors=True)  # leases of a cluster that no longer exists


def _create(wanted: Lab, kind: KeptHosts, say: Say) -> None:
    kind.check()
    installed = {
        version: jars.ensure(version, jars.dependencies(version), say)
        for version in (wanted.layout.kafka, *wanted.layout.also)
    }
    cached = installed[wanted.layout.kafka]
    files = _files(wanted)
    tools = (file for file in files[wanted.seats[0].host] if file.only is None and file.path.startswith(launchers.BIN))
    kind.prepare(cached, tuple(tools), say)
    say(f"lab {wanted.state.name}: making {len(wanted.seats)} hosts for {wanted.title}")
    directory = runner.directory(wanted.state.directory)
    runner.write(wanted.state.layout, wanted.layout.model_dump_json(indent=1, exclude_unset=True) + "\n")
    client = ssh_files.make_key()
    keys = {seat.host: ssh_files.make_key() for seat in wanted.seats}
    runner.write(directory / "client_key", client.private, 0o600)
    privilege.give_to_caller(directory / "client_key")
    runner.write(directory / "known_hosts", ssh_files.known_hosts(wanted.seats, keys))
    if wanted.layout.names:
        runner.directory(wanted.state.names_file.parent)
        runner.write(wanted.state.names_file, ssh_files.etc_hosts(wanted.seats))
    by = secure.prepare(directory) if wanted.layout.secure else None
    files = {
        seat.host: _fitting(wanted, ssh_files.files(seat, wanted.seats, keys[seat.host], client))
        + files[seat.host]
        + (() if by is None else secure.files(seat, by, directory))
        for seat in wanted.seats
    }
    init = directory / "init.py"
    runner.write(init, Path(__file__).with_name("init.py").read_text(encoding="utf-8"))
    machine = preflight.machine(installed, init)
    kind.create(wanted.seats, files, machine)
    _hosts(wanted, kind, say)
    if isinstance(kind, NamespaceHosts):
        archive.ensure(kind, wanted.seats[0].host, cached, Path(machine.java_home), say)


def _files(wanted: Lab) -> dict[str, tuple[HostFile, ...]]:
    """Return by host the configuration and scripts of its services."""
    return {seat.host: _fitting(wanted, wanted.mode.files(seat, wanted.seats, wanted.layout)) for seat in wanted.seats}


def _fitting(wanted: Lab, files: tuple[HostFile, ...]) -> tuple[HostFile, ...]:
    """Return the files for this lab's kind of hosts."""
    return tuple(file for file in files if file.only in {None, wanted.layout.hosts})


def _hosts(wanted: Lab, kind: KeptHosts, say: Say) -> None:
    """Start every host, and wait until it answers over SSH."""
    for seat in wanted.seats:
        if not kind.runs(seat.host):
            kind.start(seat.host)
        elif not health.in_lab(wanted.state.namespace, [partial(health.ssh_answers, seat.address)])[0]:
            kind.wake(seat.host, say)
    deadline = time.monotonic() + kind.patience
    waiting = _silent(wanted, wanted.seats)
    while waiting:
        for seat in waiting:
            if (reason := kind.failure(seat.host)) is not None:
                raise LabError(f"{seat.host}: did not start: {reason}")
        if time.monotonic() > deadline:
            raise LabError(_silence(kind, waiting, wanted.state.name))
        time.sleep(0.02)
        waiting = _silent(wanted, waiting)


def _silence(kind: KeptHosts, waiting: tuple[Seat, ...], name: str) -> str:
    names = ", ".join(seat.host for seat in waiting)
    words = kind.last_words(waiting[0].host)
    console = f"; the console of {waiting[0].host} ends with:\n{words}" if words else ""
    return f"{names}: no SSH server answers within {kind.patience:g} s; {_anew(name)}{console}"


def _silent(wanted: Lab, seats: tuple[Seat, ...]) -> tuple[Seat, ...]:
    answers = health.in_lab(wanted.state.namespace, [partial(health.ssh_answers, seat.address) for seat in seats])
    return tuple(seat for seat, answer in zip(seats, answers, strict=True) if not answer)


def _anew(name: str) -> str:
    return f"do: chaosk lab down --name {name}, then chaosk lab up"


def _services(wanted: Lab, kind: KeptHosts, say: Say) -> None:
    deadline = time.monotonic() + _SERVICE_TIMEOUT
    start_again = time.monotonic() + kind.grace
    waiting = _unready(wanted, wanted.services)
    if waiting:
        say(f"lab {wanted.state.name}: starting {', '.join(one.title for one in waiting)}")
    while waiting:
        if time.monotonic() > start_again:
            _start(kind, waiting)
            start_again = time.monotonic() + kind.pause
        if time.monotonic() > deadline:
            raise LabError(_why(kind, waiting[0], wanted.state.name))
        time.sleep(0.05)
        waiting = _unready(wanted, waiting)


def _unready(wanted: Lab, services: tuple[Service, ...]) -> tuple[Service, ...]:
    questions = [partial(health.service_state, one, wanted.brokers, wanted.controllers) for one in services]
    states = health.in_lab(wanted.state.namespace, questions)
    return tuple(one for one, state in zip(services, states, strict=True) if state is None)


def _start(kind: KeptHosts, services: tuple[Service, ...]) -> None:
    parallel_map(lambda one: kind.on_host(one.host, one.start), services)


def _why(kind: KeptHosts, service: Service, name: str) -> str:
    ends = (_end(kind, service.host, path) for path in (service.log, service.output))
    end = next(filter(None, ends), "(it wrote no log)")
    return (
        f"{service.host}: {service.title} does not answer within {_SERVICE_TIMEOUT:g} s; its log ends with:\n{end}\n"
        f"if a fault was left there, heal it, or {_anew(name)}"
    )


def _end(kind: KeptHosts, host: str, path: str) -> str:
    try:
        return kind.read_log(host, path, 5).strip()
    except LabError:
        return ""


def _write_inventory(wanted: Lab) -> None:
    state = wanted.state
    inventory = wanted.mode.inventory(wanted.seats, wanted.layout, state.namespace)
    if wanted.layout.secure:
        inventory = secure.inventory(inventory)
    if wanted.layout.hosts == "vms":
        inventory = power.inventory(unit.inventory(inventory), state.name)
    if wanted.layout.also:
        inventory = installations.inventory(inventory, wanted.layout)
    values = linger.inventory(inventory).model_dump(mode="json", exclude_defaults=True)
    runner.write(state.inventory, yaml.safe_dump(values, sort_keys=False))
