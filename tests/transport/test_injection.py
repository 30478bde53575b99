"""Nothing from YAML is obeyed by a shell: refused when it is read, or a word among others on every line that is sent.

The lines are those that chaosk sends, for every step there is, and they are read by the shell of this machine; on a
host it is the same, which tests/transport/test_injection_on_lab.py shows over SSH.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shlex
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import injection
import pytest
from injection import RUN, commands, inventory, kraft, leaves, loaded, renamed, replaced, scenario, taken, texts
from payloads import CANARY, HARMLESS_IN_A_FILE, SHELL, some

from chaosk.core.model import Model
from chaosk.document import DocumentError, load_variants
from chaosk.document.nodes import spell
from chaosk.hosts import lease
from chaosk.hosts.commands import service
from chaosk.hosts.scripts import script
from chaosk.hosts.transport import wrap
from chaosk.rundir.paths import slug
from chaosk.spec.command import Command
from chaosk.spec.contracts.step import PreparedFault, Run
from chaosk.spec.inventory import Broker, Inventory
from chaosk.spec.scenario import Scenario

FREE_KEYS = {
    Inventory: ("hosts.node2", "brokers.0", "brokers.2.listeners.OTHER", "zookeepers.1", "client.security.protocol"),
    Scenario: ("variables.count", "topics.orders", "topics.orders.config.min.insync.replicas", "probes.reader",
               "cluster.config.auto.leader.rebalance.enable", "probes.writer.produce.config.acks",
               "expect.unavailability.writer"),
}  # fmt: skip
"""Keys that the user chooses."""
NO_TEXT = {
    "Entry.at", "Entry.lasts", "Consume.processing", "BurnCpu.share", "EatMemory.share", "EatMemory.size",
    "SkewClock.offset", "SkewClock.drift", "FillDisk.free", "FillDisk.size", "LosePackets.share", "DelayNetwork.jitter",
    "SetQuota.producer_byte_rate", "SetQuota.consumer_byte_rate", "Transaction.lasts",
    "DenyAccess.group", "Transaction.id", "SecretRef.command", "SshSettings.config", "SshSettings.name",
}  # fmt: skip
"""Durations, sizes and shares: text in the file, numbers here. And what must be a name that a probe gives, or is a
word of a command of this machine, which no shell reads."""


@dataclass(frozen=True, slots=True)
class Poisoned:
    """One payload in every place that takes it, and the commands that come of it."""

    payload: str
    places: frozenset[str]
    commands: tuple[Command, ...]


@pytest.fixture(scope="module")
def poisoned(tmp_path_factory: pytest.TempPathFactory) -> list[Poisoned]:
    """Some payloads: each is seconds of documents that are loaded."""
    folder = tmp_path_factory.mktemp("documents")
    return [_poisoned(folder, payload) for payload in some(SHELL)]


def _poisoned(folder: Path, payload: str) -> Poisoned:
    theirs = taken(folder, scenario(), Scenario, payload)
    experiment = loaded(folder, replaced(scenario(), theirs), Scenario)
    places, sent = set(map(spell, theirs)), list[Command]()
    for document in (inventory(), kraft()):
        ours = taken(folder, document, Inventory, payload)
        places |= set(map(spell, ours))
        sent += commands(loaded(folder, replaced(document, ours), Inventory), experiment)
    return Poisoned(payload, frozenset(places), tuple(dict.fromkeys(sent)))


def test_there_are_enough_payloads_and_they_bite(tmp_path: Path) -> None:
    """A hundred at least; and where a text is pasted into a line, many of them are obeyed, so they would be seen."""
    assert len(SHELL) >= 100
    bit = 0
    for payload in HARMLESS_IN_A_FILE:
        for line in (f"echo {payload}", f'echo "{payload}"', f"echo '{payload}'"):
            subprocess.run(["sh", "-c", line], cwd=tmp_path, capture_output=True, timeout=20, check=False, env=_BARE)
        found = (tmp_path / CANARY).exists()
        bit += found
        if found:
            (tmp_path / CANARY).unlink()
    assert bit >= 50


_BARE = {"PATH": os.environ["PATH"]}


def test_every_field_that_is_text_has_its_turn(tmp_path: Path) -> None:
    """The documents that are poisoned have a value in every field of every class that can hold text."""
    values: list[Model] = [loaded(tmp_path, document, Inventory) for document in (inventory(), kraft())]
    values.append(loaded(tmp_path, scenario(), Scenario))
    seen = {owner for value in values for owner, _ in texts(value)}
    classes = {type(each) for value in values for each in _models(value)}
    wanted = {
        f"{kind.__name__}.{name}"
        for kind in classes
        for name, field in kind.model_fields.items()
        if re.search(r"\bstr\b", str(field.annotation))
    }
    assert len(wanted) >= 40
    assert wanted - seen - NO_TEXT == set()


def _models(value: object) -> Iterator[Model]:
    if isinstance(value, Model):
        yield value
        for name in type(value).model_fields:
            yield from _models(getattr(value, name))
    elif isinstance(value, dict | list | tuple):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _models(each)


def test_most_places_refuse_and_the_others_are_known(poisoned: list[Poisoned]) -> None:
    """Names, addresses, durations, targets refuse every payload; what takes text is what is meant to be text."""
    free = {place for each in poisoned if set(each.payload) & set("$`;|&<>") for place in each.places}
    every = {spell(path) for document in (inventory(), kraft(), scenario()) for path in leaves(document)}
    assert len(every) > 100
    assert {re.sub(r"[0-9]+", "N", place) for place in free} == {
        "hosts.nodeN.key_file", "hosts.nodeN.known_hosts", "hosts.nodeN.power.switch_off[N]",
        "hosts.nodeN.power.switch_on[N]", "hosts.nodeN.power.state[N]", "brokers.N.service.start[N]",
        "brokers.N.service.stop[N]",
        "brokers.N.installation.link", "brokers.N.installation.versions.N.N.N",
        "brokers.N.service.pid_file", "brokers.N.config", "brokers.N.data[N]", "brokers.N.log", "zookeepers.N.config",
        "zookeepers.N.data[N]", "zookeepers.N.log", "controllers.N.config", "controllers.N.data[N]",
        "controllers.N.log", "kafka.home", "kafka.version", "kafka.client_config",
        "client.sasl.password.env", "client.ssl.ca.location", "client.ssl.key.password.file",
        "probe_client.sasl.username",
            "name", "hypothesis", "covers[N]", "tags[N]",
        "cluster.config.auto.leader.rebalance.enable", "cluster.config.broker.rack",
        "allow.zookeeper_majority", "allow.controller_majority", "allow.all_brokers", "allow.foreign_under_min_isr",
        "timeline[N].fill_disk.directory", "timeline[N].change_owner.directory",
        "timeline[N].remount_read_only.directory", "timeline[N].slow_disk.directory", "timeline[N].fail_disk.directory",
        "timeline[N].wipe_disk.directory", "timeline[N].corrupt_log.directory", "allow.foreign_loss",

        "probes.free.consume.config.client.rack", "probes.failing.consume.producer_config.client.rack",
    }  # fmt: skip


@pytest.mark.parametrize("kind", [Inventory, Scenario])
def test_keys_are_names(tmp_path: Path, kind: type[Inventory | Scenario]) -> None:
    """A host, a topic, a probe cannot be called what a shell obeys; a listener can, and is no part of any command."""
    document = inventory() if kind is Inventory else scenario()
    paths = {spell(path): path for path in injection.keys(document)}
    for key in FREE_KEYS[kind]:
        for payload in some(SHELL)[1::2]:
            try:
                value = loaded(tmp_path, renamed(document, paths[key], payload), kind)
            except DocumentError:
                continue
            assert key.startswith(("client.", "brokers.2.listeners.", "cluster.config.", "topics.orders.config."))
            if isinstance(value, Inventory):
                words = [
                    word for command in commands(value, loaded(tmp_path, scenario(), Scenario)) for word in command.argv
                ]
                assert payload not in words


def test_the_value_of_a_variant_is_one_in_its_place(tmp_path: Path) -> None:
    """What is true of a payload where it is written is true of it where a variant brings it; its name goes nowhere."""
    path = tmp_path / "varied.yaml"
    taken = 0
    for payload in some(SHELL):
        own = {
            "variables": {**scenario()["variables"], "x": "y"},
            "matrix": {"x": [payload, "other"]},
            "tags": ["${x}"],
        }
        path.write_text(json.dumps({**scenario(), **own}), "utf-8")
        try:
            varied = load_variants(path)
            plain = loaded(tmp_path, {**scenario(), "tags": [payload]}, Scenario)
        except DocumentError:
            continue
        taken += 1
        (one, _) = varied.values()
        assert one.tags == (payload,)
        assert one.model_copy(update={"name": plain.name, "variables": plain.variables}) == plain
        assert set(slug(one.name)) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert taken > len(some(SHELL)) / 2


def test_the_login_shell_reads_every_word_as_it_is(poisoned: list[Poisoned], tmp_path: Path) -> None:
    """All commands with a payload in them, as lines for the login shell: it hands on the very words, no more."""
    sent = list(dict.fromkeys(_short(c) for each in poisoned for c in each.commands if _holds(c, each.payload)))
    assert len(sent) > 8 * len(poisoned)
    reached = {each.payload for each in poisoned if any(_holds(c, each.payload) for c in each.commands)}
    assert len(reached) > 0.8 * len(poisoned)
    read = _read_by_sh(tmp_path, [wrap.line(command, "nonce", sudo=True) for command in sent])
    for command, words in zip(sent, read, strict=True):
        assert words[-len(command.argv) :] == list(command.argv)
    assert list(tmp_path.iterdir()) == []


def _holds(command: Command, payload: str) -> bool:
    return any(payload in word for word in command.argv)


def _short(command: Command) -> Command:
    """Without the text of chaosk's own scripts, which are the same in every line."""
    ours = [script(name) for name in ("cut", "examine", "lease", "lock", "service", "state")]
    argv = tuple("SCRIPT" if any(text in word for text in ours) else word for word in command.argv)
    return command.model_copy(update={"argv": argv, "stdin": None})


def _read_by_sh(folder: Path, lines: list[str]) -> list[list[str]]:
    """The words of each line as the shell reads them: the first of each is `env`, which here prints what follows."""
    assert all(line.startswith("exec env ") for line in lines)
    text = "env() { printf '%s\\0' \"$@\" ''; }\n" + "".join(
        f"{line.removeprefix('exec ')}\nprintf '\\n\\0'\n" for line in lines
    )
    done = subprocess.run(["sh"], input=text.encode(), cwd=folder, capture_output=True, check=True, timeout=120)
    assert done.stderr == b""
    every = done.stdout.decode().split("\0\0\n\0")[:-1]
    return [one.split("\0") for one in every]


def test_rules_of_the_packet_filter_hold_no_payload(poisoned: list[Poisoned]) -> None:
    """They are text that another program reads, so nothing free may get there: no `-j ACCEPT`, no second line."""
    ordinary = {" ", "-", "--", "-e", "-n", "-p"}
    seen = [
        (each.payload, command.stdin)
        for each in poisoned
        for command in each.commands
        if script("cut") in command.argv and command.stdin is not None
    ]
    assert len(seen) > 4 * len(poisoned)
    for payload, rules in seen:
        assert payload in ordinary or payload not in rules, rules


def test_an_undo_hands_on_every_word_as_it_is(tools: Path, tmp_path: Path) -> None:
    """The script that a host keeps, run by a shell as its timer does: words and input reach the program unread."""
    for number, payload in enumerate(some(HARMLESS_IN_A_FILE)):
        wanted = Command(host="node1", argv=(str(tools / "record"), payload, "end"), sudo=True, stdin=payload)
        (one,) = lease.leases(_fault(wanted), RUN, payload)
        bundle = lease.arm(one, 5).stdin
        assert bundle is not None
        assert bundle.splitlines()[0] == str(script("lease").count("\n"))
        subprocess.run(
            ["sh"], input=one.undo.encode(), cwd=tmp_path, check=True, timeout=30, env=_records(tools, number)
        )
        assert _recorded(tools, number) == [payload, "end", payload]
    assert [path.name for path in tmp_path.iterdir()] == ["tools"]


def test_a_whole_line_hands_on_every_word_as_it_is(tools: Path, tmp_path: Path) -> None:
    """From the login shell by way of sudo to the program that stops a broker, which is named by payloads all over."""
    work = tmp_path / "work"
    work.mkdir()
    names = [text for text in HARMLESS_IN_A_FILE if "/" not in text and len(text) < 200 and min(text) >= " "]
    names = [*some(tuple(names))]
    with subprocess.Popen(["sleep", "600"]) as alive:
        try:
            time.sleep(1.1)  # a pid file is believed if the process is older
            for number, payload in enumerate(names):
                pid = work / f"pid{payload}"
                pid.write_text(str(alive.pid))
                stop = service.stop(_broker((str(tools / "record"), payload, "end"), pid))
                line = _here(wrap.line(stop, secrets.token_hex(8), sudo=True), tools)
                subprocess.run(["sh", "-c", line], cwd=work, check=True, timeout=30, env=_records(tools, number),
                               capture_output=True, stdin=subprocess.DEVNULL)  # fmt: skip
                assert _recorded(tools, number)[:2] == [payload, "end"]
                pid.unlink()
            assert list(work.iterdir()) == []
        finally:
            alive.kill()


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """Programs in place of the host's: one that keeps its words and its input, and a sudo that asks nobody."""
    folder = tmp_path / "tools"
    folder.mkdir()
    (folder / "record").write_text('#!/bin/sh\n{ printf "%s\\0" "$@"; cat; } >"$0-$(cat "$0.number")"\n')
    (folder / "sudo").write_text('#!/bin/sh\n[ "$1 $2" = "-n --" ] || exit 9\nshift 2\nexec "$@"\n')
    for path in folder.iterdir():
        path.chmod(0o755)
    return folder


def _records(tools: Path, number: int) -> dict[str, str]:
    (tools / "record.number").write_text(str(number))
    return {**_BARE, "SSH_CONNECTION": "127.0.0.1 1 127.0.0.1 22"}


def _recorded(tools: Path, number: int) -> list[str]:
    return (tools / f"record-{number}").read_bytes().decode().split("\0")


def _here(line: str, tools: Path) -> str:
    """The line with our sudo in place of the host's."""
    assert f"PATH={wrap.PATH}" in line
    return line.replace(f"PATH={wrap.PATH}", f"PATH={shlex.quote(str(tools))}:{wrap.PATH}")


def _broker(stop: tuple[str, ...], pid_file: Path) -> Broker:
    return Broker.model_validate(
        {"host": "node1", "service": {"start": ["x"], "stop": stop, "pid_file": str(pid_file)},
         "listeners": {"A": {"address": "192.0.2.1", "port": 1}}}
    )  # fmt: skip


def _fault(undo: Command) -> PreparedFault:
    return PreparedFault(
        name="cut",
        step="cut_network",
        targets=(),
        before=(),
        inject=(),
        verify=(),
        undo=(Run(command=undo),),
        healed=(),
    )
