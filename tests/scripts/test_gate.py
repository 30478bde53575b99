"""The gate's own program: nothing gets in that somebody with the account could make of chaosk's commands.

The real program runs here, in real shells; only what it would run as root is replaced by its words.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from gate_at_work import SAY, Ask, asking, saying

from chaosk.hosts import sudo_gate
from chaosk.hosts.scripts import PARTS

CONFIG = "/etc/kafka/server.properties"
SERVER = ("script", "/run/kafka.pid", CONFIG)
CONNECTION = "192.0.2.1 1 192.0.2.2 22"
SERVERS = "198.18.0.11:9092,198.18.0.12:9092,198.18.0.13:9092"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The gate, which says what it would run."""
    return saying(tmp_path_factory.mktemp("gate"))


@pytest.fixture(scope="module")
def ask(place: Path) -> Ask:
    """Asks it."""
    return asking(place)


@pytest.mark.parametrize(
    "words",
    [
        ("id",),
        (),
        ("inner",),
        ("inner", "sh", "-c", "id"),
        ("inner", "gate"),
        ("inner", "../x"),
        ("inner", "discover x"),
        ("inner", "discover", "x"),
        ("inner", "discover", ""),
        ("inner", "lease arm", "run-1.x", "60.00"),
        ("inner", "settings change", "/opt/kafka", "", SERVERS, "1", "", "", "num.io.threads=4"),
        ("000000000000", CONNECTION, "5", "lock", "show"),
        ("EDITION", "x; id", "5", "lock", "show"),
        ("EDITION", CONNECTION, "5; id", "lock", "show"),
        ("EDITION", CONNECTION, "", "lock", "show"),
        ("EDITION", CONNECTION, "5", "mark-", "id"),
        ("EDITION", CONNECTION, "5", "mark-0;id", "lock", "show"),
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
        ("inner", "dump"),
        ("inner", "dump", "markers", "/opt/kafka"),
        ("inner", "dump", "records", "/opt/kafka", "/var/lib/kafka,/mnt/more", "orders-0"),
        ("inner", "dump", "markers", "/home/ops", "/var/lib/kafka,/mnt/more", "orders-0"),
        ("inner", "dump", "markers", "/opt/kafka", "/home/ops", "orders-0"),
        ("inner", "dump", "markers", "/opt/kafka", "/var/lib/kafka,/mnt/more", "../../../home/ops/x-0"),
        ("inner", "dump", "markers", "/opt/kafka", "/var/lib/kafka,/mnt/more", "orders-0", "orders-"),
        ("inner", "dump", "markers", "/opt/kafka", "/var/lib/kafka,/mnt/more", "orders-0", "a;id-0"),
        ("inner", "dump", "markers", "/opt/kafka", "/var/lib/kafka,/mnt/more", "orders"),
        ("inner", "dump", "markers", "/opt/kafka", "/var/lib/kafka,/mnt/more", "orders-0:1:2"),
        ("inner", "dump", "batches", "/home/ops", "/var/lib/kafka,/mnt/more", "orders-0:1:2"),
        ("inner", "dump", "batches", "/opt/kafka", "/home/ops", "orders-0:1:2"),
        ("inner", "dump", "batches", "/opt/kafka", "/var/lib/kafka,/mnt/more", "orders-0"),
        ("inner", "dump", "batches", "/opt/kafka", "/var/lib/kafka,/mnt/more", "orders-0:1"),
        ("inner", "dump", "batches", "/opt/kafka", "/var/lib/kafka,/mnt/more", "orders-0:1:2:3"),
        ("inner", "dump", "batches", "/opt/kafka", "/var/lib/kafka,/mnt/more", "orders-0:1:x"),
        ("inner", "dump", "batches", "/opt/kafka", "/var/lib/kafka,/mnt/more", "orders-0:1:-2"),
        ("inner", "dump", "batches", "/opt/kafka", "/var/lib/kafka,/mnt/more", "orders-0::2"),
        ("inner", "dump", "batches", "/opt/kafka", "/var/lib/kafka,/mnt/more", "orders-0:1:"),
        ("inner", "dump", "batches", "/opt/kafka", "/var/lib/kafka,/mnt/more", "orders:1:2"),
        ("inner", "dump", "batches", "/opt/kafka", "/var/lib/kafka,/mnt/more", "a;id-0:1:2"),
        ("inner", "dump", "batches", "/opt/kafka", "/var/lib/kafka,/mnt/more", "../x-0:1:2"),
        ("inner", "disk"),
        ("inner", "disk", "fill", "/var/lib/kafka/chaosk-fill-01", "size"),
        ("inner", "disk", "fill", "/var/lib/kafka/chaosk-fill-01", "size", "1;id"),
        ("inner", "disk", "fill", "/var/lib/kafka/chaosk-fill-01", "all", "1"),
        ("inner", "disk", "fill", "/etc/chaosk-fill-01", "size", "1"),
        ("inner", "disk", "fill", "/var/lib/kafka/../../etc/chaosk-fill-01", "size", "1"),
        ("inner", "disk", "empty", "/var/lib/kafka/orders-0"),
        ("inner", "disk", "empty", "/var/lib/kafka/chaosk-fill-"),
        ("inner", "disk", "empty", "/var/lib/kafka/chaosk-fill-../x"),
        ("inner", "disk", "empty", "/var/lib/kafka/chaosk-fill-01 /etc/passwd"),
        ("inner", "disk", "empty", "chaosk-fill-01"),
        ("inner", "address"),
        ("inner", "address", "add", "01"),
        ("inner", "address", "add", "01", "192.0.2.9", "more"),
        ("inner", "address", "add", "../x", "192.0.2.9"),
        ("inner", "address", "add", "", "192.0.2.9"),
        ("inner", "address", "add", "01", "192.0.2.9;id"),
        ("inner", "address", "add", "01", "192.0.2.9 dev lo"),
        ("inner", "address", "add", "01", ""),
        ("inner", "address", "fits", "01", "192.0.2.9"),
        ("inner", "address", "fits", "01", "192.0.2.9", "9092;id", "9093"),
        ("inner", "address", "taken", "01", "192.0.2.9"),
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
        ("inner", "load"),
        ("inner", "load", "put", "disk", "01", "1"),
        ("inner", "load", "put", "cpu", "01", "1 2"),
        ("inner", "load", "put", "cpu", "01", "ppm"),
        ("inner", "load", "put", "cpu", "01", "1;id"),
        ("inner", "load", "put", "cpu", "01"),
        ("inner", "load", "lift", "cpu", "x|y"),
        ("inner", "load", "lift", "cpu", ""),
        ("inner", "load", "nonsense", "cpu", "01"),
        ("inner", "owner"),
        ("inner", "owner", "change", "/var/lib/kafka", "01", "ops"),
        ("inner", "owner", "change", "/var/lib/kafka", "01"),
        ("inner", "owner", "change", "/var/lib/kafka", "../x", "nobody"),
        ("inner", "owner", "change", "/var/lib/kafka", "ID", "nobody"),
        ("inner", "owner", "change", "/etc", "01", "nobody"),
        ("inner", "owner", "restore", "/etc", "01"),
        ("inner", "reset"),
        ("inner", "reset", "end", "more"),
        ("inner", "reset", "forget"),
        ("inner", "version"),
        ("inner", "version", "point", "/opt/kafka", *SERVER, "3.9.1", "/home/ops"),
        ("inner", "version", "point", "/etc/passwd", *SERVER, "3.9.1", "/opt/kafka-3.9.1"),
        ("inner", "version", "point", "/opt/kafka", *SERVER, "3.9.2", "/opt/kafka-3.9.1"),
        ("inner", "version", "back", "/etc/passwd", *SERVER),
        ("inner", "version", "fits", "/opt/kafka", *SERVER, "3.9.1", "/opt/kafka-3.9.1", "every"),
        ("inner", "service", "stop-from", *SERVER, "/home/ops", "/opt/kafka-stop"),
        ("inner", "service", "stop-from", *SERVER, "/opt/kafka-3.9.1", "/home/ops/x"),
        ("inner", "settings"),
        ("inner", "settings", "fits", "/home/ops", ""),
        ("inner", "settings", "fits", "/opt/kafka", "/home/ops/x"),
        ("inner", "settings", "change", "/opt/kafka", "", SERVERS, "1", "", ""),
        ("inner", "settings", "change", "/home/ops", "", SERVERS, "1", "", "", "num.io.threads=4"),
        ("inner", "settings", "change", "/opt/kafka", "", "evil:9092", "1", "", "", "num.io.threads=4"),
        ("inner", "settings", "change", "/opt/kafka", "", SERVERS, "1;id", "", "", "num.io.threads=4"),
        ("inner", "settings", "change", "/opt/kafka", "", SERVERS, "1", "", "", "log.retention.ms=1"),
        ("inner", "settings", "change", "/opt/kafka", "", SERVERS, "1", "", "", "num.io.threads=4,log.retention.ms=1"),
        ("inner", "settings", "change", "/opt/kafka", "", SERVERS, "1", "", "", "num.io.threads=4=5"),
        ("inner", "settings", "change", "/opt/kafka", "", SERVERS, "1", "", "", "producer_byte_rate=4"),
        ("inner", "settings", "change", "/opt/kafka", "", SERVERS, "1", "", "writer", "num.io.threads=4"),
        ("inner", "settings", "change", "/opt/kafka", "", SERVERS, "", "", "", "producer_byte_rate=4"),
        ("inner", "settings", "change", "/opt/kafka", "", SERVERS, "", "", "--help", "producer_byte_rate=4"),
        ("inner", "settings", "change", "/opt/kafka", "", SERVERS, "", "", "writer", "num.io.threads=4"),
        ("inner", "settings", "describe", "/opt/kafka", "", SERVERS, "1", "", "", "num.io.threads"),
        ("inner", "topic"),
        ("inner", "topic", "fits", "/home/ops", ""),
        ("inner", "topic", "delete", "/opt/kafka", "", SERVERS, "orders", "1"),
        ("inner", "topic", "make", "/opt/kafka", "", SERVERS, "orders"),
        ("inner", "topic", "make", "/home/ops", "", SERVERS, "orders", "0:1"),
        ("inner", "topic", "make", "/opt/kafka", "", "evil:9092", "orders", "0:1"),
        ("inner", "topic", "make", "/opt/kafka", "", SERVERS, "__consumer_offsets", "0:1"),
        ("inner", "topic", "make", "/opt/kafka", "", SERVERS, "--help", "0:1"),
        ("inner", "topic", "make", "/opt/kafka", "", SERVERS, "orders", "0:1;id"),
        ("inner", "topic", "make", "/opt/kafka", "", SERVERS, "orders", ""),
        ("inner", "topic", "make", "/opt/kafka", "", SERVERS, "orders", "0:1", "a.b=$(id)"),
        ("inner", "topic", "make", "/opt/kafka", "", SERVERS, "orders", "0:1", "a.b=1\nc=2"),
        ("inner", "topic", "there", "/opt/kafka", "", SERVERS, "orders", "1;id"),
        ("inner", "topic", "there", "/opt/kafka", "", SERVERS, "orders"),
        ("inner", "mapper"),
        ("inner", "mapper", "put", "0-a", "01", "/var/lib/kafka", "script", "/run/kafka.pid", CONFIG, "all"),
        ("inner", "oom"),
        ("inner", "oom", "kill", "0-a", "run.x", "script", "/run/kafka.pid", CONFIG),
        ("inner", "readonly"),
        ("inner", "readonly", "put", "../x", "/var/lib/kafka", "script", "/run/kafka.pid", CONFIG),
        ("inner", "readonly", "put", "ID", "/var/lib/kafka", "script", "/run/kafka.pid", CONFIG),
        ("inner", "readonly", "put", "01", "/etc", "script", "/run/kafka.pid", CONFIG),
        ("inner", "readonly", "lift", "01", "/etc", "script", "/run/kafka.pid", CONFIG),
        ("inner", "readonly", "put", "01", "/var/lib/kafka", "script", "/home/ops/mine.pid", ""),
        ("inner", "readonly", "put", "01", "/var/lib/kafka"),
        ("inner", "corrupt"),
        ("inner", "corrupt", "corrupt", "01", "/var/lib/kafka", "script", "/run/kafka.pid", CONFIG),
        ("inner", "corrupt", "corrupt", "../x", "/var/lib/kafka", "script", "/run/kafka.pid", CONFIG, "orders-0"),
        ("inner", "corrupt", "corrupt", "01", "/etc", "script", "/run/kafka.pid", CONFIG, "orders-0"),
        ("inner", "corrupt", "corrupt", "01", "/var/lib/kafka", "script", "/run/kafka.pid", CONFIG, "../etc-0"),
        ("inner", "corrupt", "corrupt", "01", "/var/lib/kafka", "script", "/run/kafka.pid", CONFIG, "orders"),
        (
            "inner",
            "corrupt",
            "corrupt",
            "01",
            "/var/lib/kafka",
            "script",
            "/run/kafka.pid",
            CONFIG,
            "__consumer_offsets-0",
        ),
        ("inner", "corrupt", "corrupt", "01", "/var/lib/kafka", "script", "/home/ops/mine.pid", "", "orders-0"),
        ("inner", "wipe"),
        ("inner", "wipe", "discard", "../x", "/var/lib/kafka", "script", "/run/kafka.pid", CONFIG),
        ("inner", "wipe", "discard", "01", "/etc", "script", "/run/kafka.pid", CONFIG),
        ("inner", "wipe", "wipe", "01", "/var/lib/kafka", "script", "/home/ops/mine.pid", ""),
        ("inner", "wipe", "wipe", "01", "/var/lib/kafka"),
        ("inner", "lock", "take", "../x", "1", "me"),
        ("inner", "lock", "take", "x", "1", "me\nyou"),
        ("inner", "lock", "nonsense"),
        ("inner", "examine", "tool", "a\nb"),
    ],
)
def test_what_chaosk_never_asks_is_refused(ask: Ask, place: Path, words: tuple[str, ...]) -> None:
    """Nothing is run, the status is 1, and it says that it was the gate."""
    known = {"EDITION": sudo_gate.edition(), "GATE": str(place)}
    done = ask(*(known.get(word, word) for word in words))
    assert "RUNS" not in done.stdout
    assert done.returncode == 1
    assert done.stderr.startswith("the gate of this host refuses ")


@pytest.mark.parametrize("name", sorted(PARTS.keys() - {"power"}))
def test_every_script_for_hosts_is_one_of_the_gates(ask: Ask, name: str) -> None:
    """Its arguments may be refused, but not its name; a power switch is thrown from chaosk's machine."""
    assert not ask("inner", name).stderr.endswith(f"refuses `{name}`\n"), f"add a case for {name} to gate.sh"


def test_a_gate_behind_a_password_says_that_it_has_begun(ask: Ask) -> None:
    """So that chaosk sends nothing to it that was meant for sudo; the mark is no argument of a script."""
    done = ask(sudo_gate.edition(), CONNECTION, "5", "mark-0af", "lock", "show")
    assert (done.stdout, done.stderr) == ("RUNS lock <show>\n", "begun-0af")


@pytest.mark.parametrize(
    "rule",
    [
        "4 I -j LOG",
        "4 I --modprobe=/tmp/x -j DROP",
        "4 I -M /tmp/x -j DROP",
        "4 I -s 192.0.2.1 -j DROP -j ACCEPT",
        "4 I -s -M -j DROP",
        "4 I -s 192.0.2.1; id -j DROP",
        "4 I -m owner --uid-owner 0 -j DROP",
        "4 I -m statistic --mode random --probability 1 -j DROP",
        "4 I -m statistic --mode random --probability 0.1000 -M /tmp/x -j DROP",
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
        done = ask("inner", "reset", "end", stdin=text)
        if rule or text == "\n":
            assert "RUNS" not in done.stdout
            assert "refuses a rule" in done.stderr


@pytest.mark.parametrize("words", [("cut", "install", "CHAOSK-01", "chaosk:x", "auto"), ("reset", "end")])
@pytest.mark.parametrize("does", ["exit 2", "exit 1", "kill -s KILL $$", "exec head -n 1"])
def test_rules_that_could_not_be_checked_are_refused(
    place: Path, tmp_path: Path, words: tuple[str, ...], does: str
) -> None:
    """The account's limits on memory and time may end programs that read much: no answer is not a yes."""
    rules = "4 I -s 192.0.2.1 -j DROP\n4 I -s 192.0.2.2 -j DROP\n"
    grep = f'case "$*" in *DROP*) {does} ;; esac\nexec {shutil.which("grep")} "$@"'
    (tmp_path / "grep").write_text(f"#!/bin/sh\n{grep}\n", "utf-8")
    (tmp_path / "grep").chmod(0o755)
    text = place.read_text("utf-8").replace("\nPATH=", f"\nPATH={tmp_path}:")
    (tmp_path / "gate").write_text(text, "utf-8")
    done = asking(tmp_path / "gate")("inner", *words, stdin=rules)
    assert "RUNS" not in done.stdout
    assert "refuses a rule" in done.stderr
    assert "RUNS" in asking(place)("inner", *words, stdin=rules).stdout


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


BAD_LOOK = ["id", f"told {GOOD}", f"told 0 {GOOD}; id", f"told $(id) {GOOD}", GOOD, "told 0 id"]


def bundle(undo: str, check: str, look: str = "", about: str = "{}") -> str:
    """What `lease arm` reads from outside."""
    return "".join(f"{part.count(chr(10))}\n{part}" for part in (f"{about}\n", undo, check, look))


@pytest.mark.parametrize(
    "text",
    [
        *(bundle(f"failed=\n{line}\n", "") for line in BAD_UNDO),
        *(bundle("failed=\n", f"{line}\n") for line in BAD_CHECK),
        *(bundle("failed=\n", "", f"{line}\n") for line in BAD_LOOK),
        bundle("failed=\n", "", about="{}\nid"),
        bundle("failed=\n", "") + "1\nid\n",
        bundle("failed=\n", "") + "id\n",
        "1\n{}\n-1\nid\n0\n0\n",
        "1\n{}\n0x2\nfailed=\nid\n0\n0\n",
        "1\n{}\n5\nfailed=\n",
        "1\n{}\n1\nfailed=\n0\n",
        "0\n0\n0\n0\n",
        "",
    ],
)
def test_an_undo_that_is_not_made_of_the_gates_words_is_refused(ask: Ask, place: Path, text: str) -> None:
    """What a lease keeps is run as root later: nothing else than calls of the gate gets in, and nothing is kept."""
    text = text.replace("GATE", str(place)).replace("EDITION", sudo_gate.edition())
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
    done = ask("inner", "lease", "arm", "run-1.x", "60.00", stdin=bundle(undo, check, f"told 0 {good}\n"))
    assert done.stdout.startswith("RUNS lease <arm> <run-1.x> <60.00>")
    assert (done.stderr, done.returncode) == ("", 0)


def test_a_folder_of_a_lease_is_believed_only_where_leases_are(place: Path, tmp_path: Path) -> None:
    """Its script is run: an environment that sudo lets through must not name another one."""

    def under(folder: str) -> subprocess.CompletedProcess[str]:
        text = place.read_text("utf-8").replace(SAY, 'echo "RUNS under ${CHAOSK_LEASE-none}"')
        (tmp_path / "telling").write_text(text, "utf-8")
        return subprocess.run(
            ["sh", str(tmp_path / "telling"), "inner", "lock", "show"],
            capture_output=True, text=True, check=False, input="", env={"CHAOSK_LEASE": folder},
        )  # fmt: skip

    assert under("/var/lib/chaosk/leases/run-1.x").stdout == "RUNS under /var/lib/chaosk/leases/run-1.x\n"
    assert under("/home/ops/mine").stdout == "RUNS under none\n"
    for folder in ("/var/lib/chaosk/leases/..", "/var/lib/chaosk/leases/a/../../x", "/var/lib/chaosk/leases/"):
        assert "refuses the name" in under(folder).stderr
