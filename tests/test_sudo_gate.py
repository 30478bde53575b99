"""Commands for a sudo gate, and the gate for a cluster: every command that chaosk has is let in as it is."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
import yaml
from gate_at_work import saying
from sample_inventory import INVENTORY, on_hosts

from chaosk.core.errors import StepError, UsageError
from chaosk.hosts import fingerprint, lease, lock, sudo_gate
from chaosk.hosts.commands import service
from chaosk.hosts.commands.dump import batches, markers
from chaosk.hosts.scripts import script
from chaosk.hosts.transport import wrap
from chaosk.planning.example_cluster import ExampleCluster
from chaosk.planning.resolve import aim
from chaosk.run.preflight import facts
from chaosk.run.preflight.host_requirements import needs
from chaosk.spec.command import Command
from chaosk.spec.contracts.step import PreparedFault, Run
from chaosk.spec.inventory import Host, Inventory
from chaosk.spec.scenario import Entry

STEPS = {
    "kill_broker": "{target: broker 0}",
    "pause_broker": "{target: brokers}",
    "stop_zookeeper": "{target: zookeeper 1}",
    "restart_broker": "{target: broker 2}",
    "cut_network": "{between: [broker 0, [broker 1, broker 2]]}",
    "lose_packets": "{between: [broker 0, [broker 1, broker 2]], share: 12.5 %}",
    "reset_connections": "{between: [broker 0, [broker 1, broker 2]]}",
    "delay_network": "{between: [broker 0, everyone else], delay: 100ms, jitter: 20ms}",
    "duplicate_packets": "{between: [broker 0, [broker 1, broker 2]], share: 12.5 %}",
    "reorder_packets": "{between: [host node1, everyone else], share: 25 %, direction: out}",
    "limit_bandwidth": "{between: [broker 0, broker 1], rate: 1.5Mbit/s, direction: both}",
    "burn_cpu": "{target: brokers, share: 50 %}",
    "skew_clock": "{target: brokers, offset: 1h, direction: back}",
    "eat_memory": "{target: host(broker 1), size: 100MiB}",
    "change_owner": "{target: broker 1, directory: /mnt/more}",
    "remount_read_only": "{target: broker 1, directory: /mnt/more}",
    "wipe_disk": "{target: broker 1, directory: 2}",
    "corrupt_log": "{target: broker 1, topic: orders, partition: 33}",
    "fill_disk": "{target: broker 1, directory: /mnt/more, free: 20MiB}",
    "switch_version": "{target: brokers, version: 3.9.1}",
    "restore_version": "{target: brokers}",
    "set_broker_config": "{target: brokers, config: {num.io.threads: 4, message.max.bytes: 1000}}",
    "set_quota": "{user: ann, client: shop, producer_byte_rate: 1KiB, request_percentage: 12.5}",
}

Ask = Callable[..., subprocess.CompletedProcess[str]]


def fault(kind: str, fields: str, inventory: Inventory = INVENTORY) -> PreparedFault:
    """A step on the sample cluster, aimed."""
    entry = Entry.model_validate({"name": "entry-1", "at": "1s", kind: yaml.safe_load(fields)})
    return aim(entry, inventory, ExampleCluster(inventory), 1, "run-1")


LOGINS: dict[str, str | int | bool] = {"security.protocol": "SASL_SSL", "sasl.username": "chaosk"}
SECURE = INVENTORY.model_copy(
    update={
        "client": LOGINS,
        "probe_client": {"sasl.username": "probes"},
        "kafka": INVENTORY.kafka.model_copy(update={"client_config": "/etc/client"}),
    }
)
"""The same cluster, whose clients log in."""
FAULTS = [
    *(fault(kind, fields) for kind, fields in STEPS.items()),
    fault("skew_clock", "{target: brokers, drift: 5 %, direction: back}"),
]
FAULTS.append(
    fault("change_address", "{target: broker 1, address: 198.18.0.99}", on_hosts("a.test", "b.test", "c.test"))
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The gate, which says what it would run."""
    return saying(tmp_path_factory.mktemp("gate"))


MACHINES = INVENTORY.model_copy(
    update={"hosts": {n: h.model_copy(update={"own_kernel": True}) for n, h in INVENTORY.hosts.items()}}
)
"""The same cluster on machines of their own, whose disks and kernels may be had as well."""
OF_MACHINES = {
    "kill_broker": "{target: broker 0, how: oom_killer}",
    "slow_disk": "{target: broker 1, directory: /mnt/more, read: 1ms, write: 1s}",
    "fail_disk": "{target: broker 1, operations: writes}",
}


def all_commands() -> Iterator[Command]:
    """What steps, leases, locks and the doctor have for hosts."""
    for each in FAULTS:
        leases = lease.leases(each, "run-1", "me@here")
        for command in (deed.command for deed in (*each.inject, *each.undo, *each.tidy) if isinstance(deed, Run)):
            yield command
            for of in (held.model_copy(update={"host": command.host}) for held in leases[:1]):
                yield from (lease.under(of, command), lease.undoing(of, command))
        facts_of = (*each.before, *each.verify, *each.healed)
        yield from (one.query for one in facts_of if isinstance(one.query, Command))
        for one in leases:
            yield from (lease.arm(one, 60.0), lease.renew(one, 60.0), lease.heal(one.host, one.id))
            yield lease.disarm(one.host, one.id)
    for broker in INVENTORY.brokers.values():
        yield markers(INVENTORY.kafka, broker, ("orders-0", "_My.topic-with-12-33"))
        yield batches(INVENTORY.kafka, broker, ("orders-0:0:9000000000", "_My.topic-with-12-33:7:7"))
    for host in INVENTORY.hosts:
        yield from (lease.listing(host), lease.halt(host, "run-1"), fingerprint.ask(INVENTORY, host))
        yield facts.ask(INVENTORY, host, needs(None, INVENTORY), thorough=True)
        yield from (lock.take(host, "run-1", "me@here"), lock.keep(host, "run-1"))
        yield from (lock.leave(host, "run-1"), lock.show(host))


COMMANDS = list({(c.host, c.argv, c.stdin): c for c in all_commands() if c.sudo}.values())


def some(commands: Sequence[Command]) -> Sequence[Command]:
    """All of them with ``--all``, else one of each script, action and number of words."""
    gated = [(sudo_gate.through(command, "gate").argv, command) for command in commands]
    kinds = {(*words[:2], len(words)): command for words, command in gated}
    return commands if "CHAOSK_ALL" in os.environ else list(kinds.values())


def test_every_command_that_chaosk_has_is_let_in(place: Path) -> None:
    """By its name, with its words unchanged; the body of what it reads gets there."""
    assert len(COMMANDS) > 60
    for command in some(COMMANDS):
        gated = sudo_gate.through(command, str(place))
        done = subprocess.run(
            ["sh", place, "inner", *gated.argv], input=gated.stdin or "", capture_output=True, text=True, check=False
        )
        assert done.stderr == ""
        assert done.returncode == 0
        said = "".join(f" <{word}>" for word in gated.argv[1:])
        assert done.stdout.splitlines()[0] == f"RUNS {gated.argv[0]}{said}"


def test_machines_of_their_own_let_in_what_the_others_refuse(tmp_path: Path) -> None:
    """Disks and memory, for their brokers only, with ids, numbers and ways as chaosk has them."""
    place = saying(tmp_path, MACHINES)
    for kind, fields in OF_MACHINES.items():
        entry = Entry.model_validate({"name": "entry-1", "at": "1s", kind: yaml.safe_load(fields)})
        one = aim(entry, MACHINES, ExampleCluster(MACHINES), 1, "run-1")
        queries = [fact.query for fact in (*one.before, *one.verify, *one.healed) if isinstance(fact.query, Command)]
        sent = [*queries, *(deed.command for deed in (*one.inject, *one.undo) if isinstance(deed, Run))]
        for words in (sudo_gate.through(command, str(place)).argv for command in sent):
            assert _ask(place, *words).stdout.startswith(f"RUNS {words[0]}"), words
            if words[0] in {"mapper", "oom"}:
                for spoilt in ((*words, "more"), (words[0], words[1], "x;", *words[3:]), words[:-1]):
                    assert _ask(place, *spoilt).returncode != 0, spoilt


def test_only_the_probes_lose_rights(tmp_path: Path) -> None:
    """What chaosk has for a cluster whose clients log in is let in; another's right, or more of a right, is not."""
    place = saying(tmp_path, SECURE)
    one = fault("deny_access", "{topic: orders, operations: [write, describe]}", SECURE)
    sent = [deed.command for deed in (*one.inject, *one.undo) if isinstance(deed, Run)]
    assert len(sent) == 6
    for words in (sudo_gate.through(command, str(place)).argv for command in sent):
        assert _ask(place, *words).stdout == f"RUNS settings{''.join(f' <{word}>' for word in words[1:])}\n"
        for at, other in ((5, "cluster"), (6, "--help"), (7, "own"), (8, "User:ann"), (9, "alter"), (2, "/opt/other")):
            assert _ask(place, *words[:at], other, *words[at + 1 :]).returncode != 0, (at, other)
        assert _ask(place, *words, "more").returncode != 0
    everybody = sudo_gate.through(sent[0], str(place)).argv
    assert _ask(place, *everybody[:7], "deny", *everybody[8:]).returncode != 0


def test_only_certificates_are_swapped(tmp_path: Path) -> None:
    """At a listener of a broker of the inventory, by one file or by what was set before; nothing else is set."""
    place = saying(tmp_path, SECURE)
    one = fault("swap_certificate", "{target: broker 1}", SECURE)
    (put,), (lift,) = (
        [sudo_gate.through(deed.command, str(place)).argv for deed in deeds if isinstance(deed, Run)]
        for deeds in (one.inject, one.undo)
    )
    own = ("listener.name.client.ssl.keystore.location=/etc/own.pem", "listener.name.client.ssl.keystore.type=JKS")
    for words in (put, lift, (*lift[:7], *own)):
        assert _ask(place, *words).stdout.startswith(f"RUNS certificate{''.join(f' <{word}>' for word in words[1:])}")
        for at, other in ((2, "/opt/other"), (4, "evil:9092"), (5, "7"), (6, "../x")):
            assert _ask(place, *words[:at], other, *words[at + 1 :]).returncode != 0, (at, other)
    for wrong in ("ssl.keystore.location=/a", "listener.name.client.ssl.keystore.password=x", f"{own[0]},num.io=1"):
        assert _ask(place, *lift[:7], wrong).returncode != 0, wrong
    assert _ask(place, *put, "num.io.threads").returncode != 0
    assert _ask(place, "certificate more", *put[1:]).returncode != 0


def _ask(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["sh", place, "inner", *words], input="", capture_output=True, text=True, check=False)


def test_a_lease_is_armed_with_the_gates_own_script(place: Path) -> None:
    """What arrives is a bundle as lease.sh reads it: four texts, the first of them lease.sh."""
    (held, *_) = lease.leases(FAULTS[0], "run-1", "me@here")
    gated = sudo_gate.through(lease.arm(held, 60.0), str(place))
    assert gated.stdin is not None
    assert script("lease") not in gated.stdin
    done = subprocess.run(
        ["sh", place, "inner", *gated.argv], input=gated.stdin, capture_output=True, text=True, check=True
    )
    _, count, rest = done.stdout.split("\n", 2)
    lines = rest.splitlines(keepends=True)
    assert "".join(lines[: int(count)]) == script("lease")
    assert "".join(lines[int(count) :]) == gated.stdin
    assert f"{place} inner service start" in gated.stdin


def test_what_the_login_shell_reads_names_gate_edition_and_connection(place: Path) -> None:
    """The line as it is sent, run by a real shell with a sudo that only drops its own words."""
    gated = sudo_gate.through(lock.show("node1"), str(place))
    line = wrap.line(gated, "NONCE", sudo=True, gate=(str(place), sudo_gate.edition()))
    assert "SSH_CONNECTION=" in line
    sudo = place.with_name("sudo")
    sudo.write_text('#!/bin/sh\nshift 2\nexec "$@"\n')
    sudo.chmod(0o755)
    line = line.replace(f"PATH={wrap.PATH}", f"PATH={place.parent}:{os.environ['PATH']}")
    done = subprocess.run(
        ["sh", "-c", line], capture_output=True, text=True, timeout=20, check=False,
        env={"PATH": os.environ["PATH"], "SSH_CONNECTION": "192.0.2.1 1 192.0.2.2 22"}, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    answer = wrap.unwrap(done.stdout.encode(), done.stderr.encode(), "NONCE")
    assert answer is not None
    assert (answer.exit_status, answer.stdout) == (0, "RUNS lock <show>\n"), answer


def test_a_command_that_is_no_script_of_ours_is_not_sent() -> None:
    """A plugin's own program: the message says what to do about it."""
    with pytest.raises(StepError, match=r"node1: `ip link` is none of chaosk's own scripts"):
        sudo_gate.through(Command(host="node1", argv=("ip", "link"), sudo=True), sudo_gate.PLACE)


def test_a_list_that_could_not_be_told_apart_is_refused() -> None:
    """A tab in an inventory's word would be the end of a word on the gate's list."""
    brokers = {
        0: INVENTORY.brokers[0].model_copy(
            update={"service": INVENTORY.brokers[0].service.model_copy(update={"start": ("/opt/a\tb",)})}
        )
    }
    with pytest.raises(StepError, match="printable ASCII"):
        sudo_gate.program(INVENTORY.model_copy(update={"brokers": brokers}))


def _host(at: Path, allowed: str, account: str = "exit 0") -> dict[str, str]:
    """Where programs say what a host's would: what sudo allows, and by an exit status whether it has the account."""
    folder = at / "programs"
    folder.mkdir(exist_ok=True)
    for name, does in (("sudo", f"echo '{allowed}'"), ("id", account)):
        (folder / name).write_text(f"#!/bin/sh\n{does}\n", "utf-8")
        (folder / name).chmod(0o755)
    return {"PATH": f"{folder}:{os.environ['PATH']}"}


@pytest.mark.parametrize(
    ("allowed", "account", "said"),
    [
        ("User ops is not allowed to run sudo on node1.", "exit 0", "sudo does not allow ops the gate all the same"),
        ("", "exit 1", "none of the inventory's accounts is on this host"),
    ],
)
def test_an_installation_that_allows_nothing_says_so(tmp_path: Path, allowed: str, account: str, said: str) -> None:
    """A sudo that reads no /etc/sudoers.d, or an account that is not there, would show much later."""
    text = (
        sudo_gate.installer(INVENTORY)
        .replace("/etc/sudoers.d/", f"{tmp_path}/")
        .replace(sudo_gate.PLACE, f"{tmp_path}/gate")
    )
    text = text.replace(f"mkdir -p {sudo_gate.PLACE.rpartition('/')[0]}", "true")
    done = subprocess.run(
        ["sh"], input=text, capture_output=True, text=True, check=False, env=_host(tmp_path, allowed, account)
    )
    assert done.returncode == 1
    assert said in done.stderr


def test_what_is_installed_is_sound(tmp_path: Path) -> None:
    """Shellcheck reads gate and installer, visudo the lines; the digest is that of the installed file."""
    text = sudo_gate.installer(INVENTORY)
    done = subprocess.run(
        ["shellcheck", "-s", "sh", "-S", "warning", "-"], input=text, capture_output=True, text=True, check=False
    )
    assert done.stdout == ""
    moved = text.replace("/etc/sudoers.d", str(tmp_path)).replace(sudo_gate.PLACE, str(tmp_path / "gate"))
    moved = moved.replace(f"mkdir -p {str(tmp_path).rpartition('/')[0]}", "true")
    subprocess.run(["sh", "-e"], input=moved, text=True, check=True, env=_host(tmp_path, f"x {tmp_path / 'gate'}"))
    installed = (tmp_path / "gate").read_text("utf-8")
    assert installed == sudo_gate.program(INVENTORY).replace(sudo_gate.PLACE, str(tmp_path / "gate"))
    assert (tmp_path / "gate").stat().st_mode & 0o7777 == 0o755
    assert (tmp_path / "chaosk").stat().st_mode & 0o7777 == 0o440
    lines = sudo_gate.sudoers(["ops", "ops", "kafka"], "x")
    digest = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
    assert f"kafka, ops ALL = (root) NOPASSWD: sha256:{digest} {sudo_gate.PLACE}\n" in lines
    domain = tmp_path / "domain"
    domain.write_text(sudo_gate.sudoers([r"CORP\nina", "nina@example.com"], "x"), "utf-8")
    subprocess.run(["visudo", "-c", "-q", "-f", domain], check=True)


def test_an_account_whose_password_is_known_keeps_it(tmp_path: Path) -> None:
    """Sudo asks for it before the gate, too, if all hosts of the account name it; others have a rule without."""
    named = {"ssh": {"sudo_password": {"env": "X"}}}
    hosts: dict[str, dict[str, object]] = {
        "a": {**named, "user": "nina"},
        "b": {**named, "user": "ops"},
        "c": {"user": "ops"},
    }
    listed = {name: Host.model_validate({"address": f"{name}.example.com", **one}) for name, one in hosts.items()}
    text = sudo_gate.installer(INVENTORY.model_copy(update={"hosts": {**INVENTORY.hosts, **listed}}))
    assert "\nnina ALL = (root) PASSWD: sha256:" in text
    assert "ops ALL = (root) NOPASSWD: sha256:" in text
    both = tmp_path / "both"
    both.write_text(sudo_gate.sudoers(["ops", "nina"], "x", asked=["nina"]), "utf-8")
    subprocess.run(["visudo", "-c", "-q", "-f", both], check=True)


@pytest.mark.parametrize("user", ["ALL", "ADMINS", "DB_2"])
def test_a_name_that_is_more_than_one_account_is_refused(user: str) -> None:
    """Sudoers reads it as everybody, or as an alias that somebody else defines: then others had the gate, too."""
    with pytest.raises(UsageError, match="name the one account that chaosk logs in as"):
        sudo_gate.sudoers(["ops", user], "x")


def test_services_under_systemd_are_on_the_list() -> None:
    """By their units, and without a start or stop of one's own."""
    kafka = {"host": "a", "service": {"systemd": "kafka.service"}}
    listeners = {"listeners": {"CLIENT": {"address": "192.0.2.1", "port": 9092}}}
    found = Inventory.model_validate(
        {"name": "x", "hosts": {"a": {"address": "192.0.2.1"}}, "brokers": {0: {**kafka, **listeners}}}
    )
    words = service.stop(found.brokers[0]).argv[4:]
    assert "".join(f"{word}\t" for word in ("service", *words)) in sudo_gate.program(found)
