"""The gate lets in every command that chaosk has, and nothing that somebody with the account could make of them.

The real program runs here, in a real shell; only what it would run as root is replaced by its words.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path

import pytest
import yaml
from sample_inventory import INVENTORY

from chaosk import clusterlock, gate, hoststate, lease, service
from chaosk.doctor import facts
from chaosk.doctor.needs import needs
from chaosk.errors import StepError
from chaosk.examplecluster import ExampleCluster
from chaosk.inventory import Inventory
from chaosk.run.aiming import aim
from chaosk.scenario import Entry
from chaosk.scripts import script
from chaosk.steps._contract import Fault, Run
from chaosk.transport import wrap
from chaosk.transport.command import Command

RUN = 'sh -c "$(script_text "$script")" chaosk "$@"'
SAY = """printf 'RUNS %s' "$script"; printf ' <%s>' "$@"; echo; [ -t 0 ] || cat"""
STEPS = {
    "kill_broker": "{target: broker 0}",
    "pause_broker": "{target: brokers}",
    "stop_zookeeper": "{target: zookeeper 1}",
    "restart_broker": "{target: broker 2}",
    "cut_network": "{between: [broker 0, [broker 1, broker 2]]}",
}

Ask = Callable[..., subprocess.CompletedProcess[str]]


def fault(kind: str, fields: str) -> Fault:
    """A step on the sample cluster, aimed."""
    entry = Entry.model_validate({"name": "entry-1", "at": "1s", kind: yaml.safe_load(fields)})
    return aim(entry, INVENTORY, ExampleCluster(INVENTORY), 1, "run-1")


FAULTS = [fault(kind, fields) for kind, fields in STEPS.items()]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The gate of the sample cluster, which says what it would run."""
    path = tmp_path_factory.mktemp("gate") / "gate"
    text = gate.program(INVENTORY, str(path))
    assert text.count(RUN) == 1
    path.write_text(text.replace(RUN, SAY), "utf-8")
    path.chmod(0o755)
    return path


SHELLS = [[shell] for shell in ("dash", "bash") if shutil.which(shell)]
if shutil.which("busybox"):
    SHELLS.append(["busybox", "sh"])


@pytest.fixture(scope="module")
def ask(place: Path) -> Ask:
    """Asks the gate as sudo would start it; the shells that may be a host's `sh` take turns."""
    turns = cycle(SHELLS)

    def run(*words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        command = [*next(turns), str(place), *words]
        return subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=20, check=False)

    return run


def all_commands() -> Iterator[Command]:
    """What steps, leases, locks and the doctor have for hosts."""
    for each in FAULTS:
        (held, *_) = lease.leases(each, "run-1", "me@here")
        for deed in (*each.inject, *each.undo):
            if isinstance(deed, Run):
                of = held.model_copy(update={"host": deed.command.host})
                yield from (deed.command, lease.under(of, deed.command), lease.undoing(of, deed.command))
        facts_of = (*each.before, *each.verify, *each.healed)
        yield from (one.query for one in facts_of if isinstance(one.query, Command))
        for one in lease.leases(each, "run-1", "me@here"):
            yield from (lease.arm(one, 60.0), lease.renew(one, 60.0), lease.heal(one.host, one.id))
            yield lease.disarm(one.host, one.id)
    for host in INVENTORY.hosts:
        yield from (lease.listing(host), lease.halt(host, "run-1"), hoststate.ask(INVENTORY, host))
        yield facts.ask(INVENTORY, host, needs(None, INVENTORY), thorough=True)
        yield from (clusterlock.take(host, "run-1", "me@here"), clusterlock.keep(host, "run-1"))
        yield from (clusterlock.leave(host, "run-1"), clusterlock.show(host))


COMMANDS = list({(c.host, c.argv, c.stdin): c for c in all_commands()}.values())


def test_every_command_that_chaosk_has_is_let_in(place: Path) -> None:
    """By its name, with its words unchanged; the body of what it reads gets there."""
    assert len(COMMANDS) > 60
    for command in COMMANDS:
        gated = gate.through(command, str(place))
        done = subprocess.run(
            ["sh", place, "inner", *gated.argv], input=gated.stdin or "", capture_output=True, text=True, check=False
        )
        assert done.stderr == ""
        assert done.returncode == 0
        said = "".join(f" <{word}>" for word in gated.argv[1:])
        assert done.stdout.splitlines()[0] == f"RUNS {gated.argv[0]}{said}"


def test_a_lease_is_armed_with_the_gates_own_script(place: Path) -> None:
    """What arrives is a bundle as lease.sh reads it: four texts, the first of them lease.sh."""
    (held, *_) = lease.leases(FAULTS[0], "run-1", "me@here")
    gated = gate.through(lease.arm(held, 60.0), str(place))
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
    gated = gate.through(clusterlock.show("node1"), str(place))
    line = wrap.line(gated, "NONCE", sudo=True, gate=(str(place), gate.edition()))
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


CONNECTION = "192.0.2.1 1 192.0.2.2 22"


@pytest.mark.parametrize(
    "words",
    [
        ("id",),
        (),
        ("inner",),
        ("inner", "sh", "-c", "id"),
        ("inner", "gate"),
        ("inner", "../x"),
        ("000000000000", CONNECTION, "5", "lock", "show"),
        ("EDITION", "x; id", "5", "lock", "show"),
        ("EDITION", CONNECTION, "5; id", "lock", "show"),
        ("EDITION", CONNECTION, "", "lock", "show"),
        (
            "inner",
            "service",
            "start",
            "script",
            "/run/kafka.pid",
            "/etc/kafka/server.properties",
            "9092,9093",
            "/bin/sh",
        ),
        ("inner", "service", "start", "script", "/home/ops/mine.pid", "", "", "/opt/kafka-start"),
        ("inner", "service", "signal", "script", "/home/ops/mine.pid", "", "KILL"),
        ("inner", "service", "signal", "script", "/run/kafka.pid", "/etc/kafka/server.properties", "HUP"),
        ("inner", "service", "runs", "systemd", "ssh.service", ""),
        (
            "inner",
            "service",
            "start",
            "script",
            "x\nservice\truns\tscript\t/run/kafka.pid\t/etc/kafka/server.properties",
        ),
        ("inner", "service", "runs\tscript\t/run/kafka.pid\t/etc/kafka/server.properties"),
        ("inner", "service"),
        ("inner", "state", "script", "/etc/shadow"),
        ("inner", "cut", "install", "INPUT", "chaosk:x", "auto"),
        ("inner", "cut", "remove", "CHAOSK-", "chaosk:x", "auto"),
        ("inner", "cut", "remove", "CHAOSK-0;id", "chaosk:x", "auto"),
        ("inner", "cut", "remove", "CHAOSK-01", "x", "auto"),
        ("inner", "cut", "remove", "CHAOSK-01", "chaosk:x y", "auto"),
        ("inner", "cut", "remove", "CHAOSK-01", 'chaosk:x"; id', "auto"),
        ("inner", "cut", "remove", "CHAOSK-01", "chaosk:x", "auto", "more"),
        ("inner", "lease", "disarm", "../../etc"),
        ("inner", "lease", "disarm", ".."),
        ("inner", "lease", "disarm", ""),
        ("inner", "lease", "disarm"),
        ("inner", "lease", "halt", "/x"),
        ("inner", "lease", "renew", "a", "b", "1;id"),
        ("inner", "lease", "renew", "a", "../b", "1"),
        ("inner", "lease", "watch", "a"),
        ("inner", "lease", "under", "a", "b", "/bin/sh", "-c", "id"),
        ("inner", "lease", "under", "a", "b", "GATE", "EDITION", "lock", "show"),
        ("inner", "lease", "undoing", "a", "/bin/sh"),
        ("inner", "lease", "undoing", "a"),
        ("inner", "lock", "take", "../x", "1", "me"),
        ("inner", "lock", "take", "x", "1", "me\nyou"),
        ("inner", "lock", "nonsense"),
        ("inner", "examine", "tool", "a\nb"),
    ],
)
def test_what_chaosk_never_asks_is_refused(ask: Ask, place: Path, words: tuple[str, ...]) -> None:
    """Nothing is run, the status is 1, and it says that it was the gate."""
    known = {"EDITION": gate.edition(), "GATE": str(place)}
    done = ask(*(known.get(word, word) for word in words))
    assert "RUNS" not in done.stdout
    assert done.returncode == 1
    assert done.stderr.startswith("the gate of this host refuses ")


@pytest.mark.parametrize(
    "rule",
    [
        "4 I -j LOG",
        "4 I --modprobe=/tmp/x -j DROP",
        "4 I -M /tmp/x -j DROP",
        "4 I -s 192.0.2.1 -j DROP -j ACCEPT",
        "4 I -s -M -j DROP",
        "4 I -s 192.0.2.1; id -j DROP",
        "4 I -s $(id) -j DROP",
        "4 X -j DROP",
        "9 I -j DROP",
        "4 I -j DROP\nCOMMIT",
        "-A INPUT -j DROP",
        "",
    ],
)
def test_a_rule_that_chaosk_does_not_make_is_refused(ask: Ask, rule: str) -> None:
    """A program of one's own could be run as root by an option of iptables; also behind rules that are fine."""
    for text in (f"{rule}\n", f"4 I -s 192.0.2.1 -j DROP\n{rule}\n"):
        done = ask("inner", "cut", "install", "CHAOSK-01", "chaosk:x", "auto", stdin=text)
        if rule or text == "\n":
            assert "RUNS" not in done.stdout
            assert "refuses a rule" in done.stderr


GOOD = "timeout -k 2 30 GATE inner cut remove CHAOSK-01 chaosk:x auto"
BAD_UNDO = [
    "id",
    "id || failed=yes",
    f"{GOOD}; id || failed=yes",
    f"{GOOD} && id || failed=yes",
    f"{GOOD} $(id) || failed=yes",
    f"{GOOD} `id` || failed=yes",
    f"{GOOD} | sh || failed=yes",
    f"{GOOD} >/etc/passwd || failed=yes",
    f"{GOOD} 'a'\"$(id)\"'b' || failed=yes",
    f"{GOOD} || failed=yes; id",
    f"{GOOD} 'a || failed=yes",
    "timeout -k 2 30 /bin/sh inner cut || failed=yes",
    "timeout -k 2 30 GATE EDITION x 5 cut || failed=yes",
    "timeout -k 2 30;id GATE inner cut || failed=yes",
    "PATH=/tmp",
    'failed="$(id)"',
    "looks=1",
]
BAD_CHECK = [
    "id",
    f"until {GOOD}; id; do",
    f"until {GOOD}; do id",
    "done; id",
    "looks=$(id)",
    "failed=",
    "until true; do",
]


def bundle(undo: str, check: str, about: str = "{}") -> str:
    """What `lease arm` reads from outside."""
    return "".join(f"{part.count(chr(10))}\n{part}" for part in (f"{about}\n", undo, check))


@pytest.mark.parametrize(
    "text",
    [
        *(bundle(f"failed=\n{line}\n", "") for line in BAD_UNDO),
        *(bundle("failed=\n", f"{line}\n") for line in BAD_CHECK),
        bundle("failed=\n", "", about="{}\nid"),
        bundle("failed=\n", "") + "1\nid\n",
        bundle("failed=\n", "") + "id\n",
        "1\n{}\n-1\nid\n0\n",
        "1\n{}\n0x2\nfailed=\nid\n0\n",
        "1\n{}\n5\nfailed=\n",
        "0\n0\n0\n",
        "",
    ],
)
def test_an_undo_that_is_not_made_of_the_gates_words_is_refused(ask: Ask, place: Path, text: str) -> None:
    """What a lease keeps is run as root later: nothing else than calls of the gate gets in, and nothing is kept."""
    text = text.replace("GATE", str(place)).replace("EDITION", gate.edition())
    done = ask("inner", "lease", "arm", "run-1.x", "60.00", stdin=text)
    assert "RUNS" not in done.stdout
    assert "refuses an undo" in done.stderr
    assert done.returncode == 1


def test_an_undo_that_is_made_of_them_is_kept(ask: Ask, place: Path) -> None:
    """Or the test above would prove nothing; a word with blanks is one word."""
    good = GOOD.replace("GATE", str(place))
    undo = f"failed=\n{good} 'a b; $(id)' || failed=yes\n[ -z \"$failed\" ]\n"
    check = f"looks=3\nuntil {good}; do\n    looks=$((looks - 1))\n"
    check += '    [ "$looks" -gt 0 ] || exit 1\n    sleep 0.5\ndone\n'
    done = ask("inner", "lease", "arm", "run-1.x", "60.00", stdin=bundle(undo, check))
    assert done.stdout.startswith("RUNS lease <arm> <run-1.x> <60.00>")
    assert (done.stderr, done.returncode) == ("", 0)


def test_a_folder_of_a_lease_is_believed_only_where_leases_are(place: Path) -> None:
    """Its script is run: an environment that sudo lets through must not name another one."""

    def under(folder: str) -> subprocess.CompletedProcess[str]:
        text = place.read_text("utf-8").replace(SAY, 'echo "RUNS under ${CHAOSK_LEASE-none}"')
        return subprocess.run(
            ["sh", "-c", text, "sh", "inner", "lock", "show"],
            capture_output=True, text=True, check=False, input="", env={"CHAOSK_LEASE": folder},
        )  # fmt: skip

    assert under("/var/lib/chaosk/leases/run-1.x").stdout == "RUNS under /var/lib/chaosk/leases/run-1.x\n"
    assert under("/home/ops/mine").stdout == "RUNS under none\n"
    for folder in ("/var/lib/chaosk/leases/..", "/var/lib/chaosk/leases/a/../../x", "/var/lib/chaosk/leases/"):
        assert "refuses the name" in under(folder).stderr


def test_a_command_that_is_no_script_of_ours_is_not_sent() -> None:
    """A plugin's own program: the message says what to do about it."""
    with pytest.raises(StepError, match=r"node1: `ip link` is none of chaosk's own scripts"):
        gate.through(Command(host="node1", argv=("ip", "link"), sudo=True), gate.PLACE)


def test_a_list_that_could_not_be_told_apart_is_refused() -> None:
    """A tab in an inventory's word would be the end of a word on the gate's list."""
    brokers = {
        0: INVENTORY.brokers[0].model_copy(
            update={"service": INVENTORY.brokers[0].service.model_copy(update={"start": ("/opt/a\tb",)})}
        )
    }
    with pytest.raises(StepError, match="printable ASCII"):
        gate.program(INVENTORY.model_copy(update={"brokers": brokers}))


def test_what_is_installed_is_sound(tmp_path: Path) -> None:
    """Shellcheck reads gate and installer, visudo the lines; the digest is that of the installed file."""
    text = gate.installer(INVENTORY)
    done = subprocess.run(
        ["shellcheck", "-s", "sh", "-S", "warning", "-"], input=text, capture_output=True, text=True, check=False
    )
    assert done.stdout == ""
    moved = text.replace("/etc/sudoers.d", str(tmp_path)).replace(gate.PLACE, str(tmp_path / "gate"))
    moved = moved.replace(f"mkdir -p {str(tmp_path).rpartition('/')[0]}", "true")
    subprocess.run(["sh", "-e"], input=moved, text=True, check=True)
    installed = (tmp_path / "gate").read_text("utf-8")
    assert installed == gate.program(INVENTORY).replace(gate.PLACE, str(tmp_path / "gate"))
    assert (tmp_path / "gate").stat().st_mode & 0o7777 == 0o755
    assert (tmp_path / "chaosk").stat().st_mode & 0o7777 == 0o440
    lines = gate.sudoers(["ops", "ops", "kafka"], "x")
    digest = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
    assert f"kafka, ops ALL = (root) NOPASSWD: sha256:{digest} {gate.PLACE}\n" in lines
    domain = tmp_path / "domain"
    domain.write_text(gate.sudoers([r"CORP\nina", "nina@example.com"], "x"), "utf-8")
    subprocess.run(["visudo", "-c", "-q", "-f", domain], check=True)


def test_services_under_systemd_are_on_the_list() -> None:
    """By their units, and without a start or stop of one's own."""
    kafka = {"host": "a", "service": {"systemd": "kafka.service"}}
    listeners = {"listeners": {"CLIENT": {"address": "192.0.2.1", "port": 9092}}}
    found = Inventory.model_validate(
        {"name": "x", "hosts": {"a": {"address": "192.0.2.1"}}, "brokers": {0: {**kafka, **listeners}}}
    )
    words = service.stop(found.brokers[0]).argv[4:]
    assert "".join(f"{word}\t" for word in ("service", *words)) in gate.program(found)
