"""Secrets planted in every place that takes one are found nowhere afterwards: not here, not on the hosts."""

from __future__ import annotations

import secrets
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from on_lab import until

from chaosk.document import load_inventory
from chaosk.hosts.transport.ssh import Ssh
from chaosk.lab.namespace import inside
from chaosk.spec.command import Command, Result
from chaosk.spec.inventory import Inventory

pytestmark = [pytest.mark.lab, pytest.mark.timeout(400), pytest.mark.long]

SCENARIO = """\
name: A run with secrets
hypothesis: Nobody sees them.
topics:
  orders: {partitions: 1, replication_factor: 3, config: {min.insync.replicas: 2}}
probes:
  writer: {produce: {topic: orders, rate: 50/s}}
  reader: {consume: {topic: orders, group: readers, commit: sync}}
baseline: 1s
settle: 1s
timeline:
  - {name: cut, at: 1s, cut_network: {between: [host(broker 1), everyone_else]}, for: 3s}
"""


@dataclass(frozen=True)
class Planted:
    """The inventory that names the secrets, and the secrets."""

    inventory: Path
    by_env: str
    by_file: str

    @property
    def tokens(self) -> tuple[str, str]:
        """Both."""
        return self.by_env, self.by_file


@pytest.fixture
def planted(lab_inventory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Planted]:
    """The lab's inventory with a secret by variable and one by file; the lab's brokers ask for neither."""
    by_env, by_file = (f"planted-{secrets.token_hex(12)}" for _ in range(2))
    monkeypatch.setenv("CHAOSK_TEST_PASSWORD", by_env)
    (tmp_path / "key").write_text(f"{by_file}\n")
    path = lab_inventory.with_name("with-secrets.yaml")
    settings = (
        "client:\n  sasl.username: operator\n"
        "  sasl.password: {env: CHAOSK_TEST_PASSWORD}\n"
        f"  ssl.key.password: {{file: {tmp_path / 'key'}}}\n"
    )
    path.write_text(lab_inventory.read_text("utf-8").replace("client:\n", settings), "utf-8")
    yield Planted(path, by_env, by_file)
    path.unlink()


def of_processes(name: str) -> dict[str, bytes]:
    """That file of every process there is, by its place in /proc."""
    found = {}
    for path in Path("/proc").glob(f"[0-9]*/{name}"):
        try:
            found[str(path)] = path.read_bytes()
        except OSError:
            continue
    return found


class Looking:
    """Looks at all processes again and again, from now on until it is asked what it saw."""

    def __init__(self, tokens: tuple[str, ...], in_environ: tuple[str, ...]) -> None:
        self._tokens, self._in_environ = tokens, in_environ
        self._seen: set[str] = set()
        self._over = threading.Event()
        self.looks = 0
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def seen(self) -> set[str]:
        """What held a token, and stop; raises AssertionError if it hardly looked."""
        self._over.set()
        self._thread.join()
        assert self.looks > 20
        return self._seen

    def _look(self) -> None:
        while not self._over.wait(0.1):
            self.looks += 1
            for name, tokens in (("cmdline", self._tokens), ("environ", self._in_environ)):
                for place, said in of_processes(name).items():
                    self._seen |= {place for token in tokens if token.encode() in said}


def holding(root: Path, tokens: tuple[str, ...]) -> list[str]:
    """The files below a folder that hold a token, tables read as what they say."""
    found = []
    for path in root.rglob("*"):
        if path.is_file():
            said = path.read_bytes()
            if path.suffix == ".parquet":
                said += str(pq.read_table(path).to_pylist()).encode()
            found += [str(path) for token in tokens if token.encode() in said]
    return found


def on_hosts(inventory: Path, tokens: tuple[str, ...]) -> list[str]:
    """What on the hosts holds a token: files of theirs, and their processes' words; the token goes by input."""
    found = load_inventory(inventory)
    assert isinstance(found, Inventory)
    script = (
        "cat >/run/looked-for; grep -rlF -f /run/looked-for /etc /home /root /tmp /var /run /opt/kafka/logs"
        " /proc/[0-9]*/cmdline --exclude=looked-for 2>/dev/null; rm /run/looked-for"
    )

    def work() -> list[Result]:
        transport = Ssh(found.hosts)
        try:
            text = "\n".join(tokens) + "\n"
            asked = {"argv": ("sh", "-c", script), "sudo": True, "stdin": text, "timeout": 60.0}
            return [transport.run(Command.model_validate({"host": host, **asked})) for host in found.hosts]
        finally:
            transport.close()

    results: list[Result] = inside(str(found.network_namespace), work)
    return [f"{result.command.host}:{line}" for result in results for line in result.stdout.splitlines()]


def test_planted_secrets_are_found_nowhere(start: Callable[..., Any], planted: Planted) -> None:
    """A whole run: what it prints and keeps, its reports, what lies on hosts, every process's words; and its modes."""
    looking = Looking(planted.tokens, (planted.by_file,))
    run = start(SCENARIO, "--inventory", str(planted.inventory))
    assert run.finish() in {0, 1, 2}, run.text
    assert looking.seen() == set()
    assert not any(token in run.text for token in planted.tokens)
    assert holding(run.output, planted.tokens) == []
    assert on_hosts(planted.inventory, planted.tokens) == []
    assert "CHAOSK_TEST_PASSWORD" in (run.rundir() / "plan.json").read_text(), "the inventory with secrets was used"
    everything = [run.rundir(), *run.rundir().rglob("*")]
    assert len(everything) > 40
    assert {path for path in everything if path.stat().st_mode & 0o077} == set()


def test_they_would_be_found(planted: Planted, tmp_path: Path) -> None:
    """The same looks find a token that is there: in a process's words, in a file, in a table, on a host."""
    looking = Looking(planted.tokens, (planted.by_file,))
    with subprocess.Popen(["sleep", "60"], env={"X": planted.by_file}) as bearer:
        until(lambda: looking.looks > 20, 30.0)
        bearer.kill()
    assert len(looking.seen()) == 1
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "log").write_text(f"password={planted.by_env}")
    assert len(holding(tmp_path / "kept", planted.tokens)) == 1
    assert len(on_hosts(planted.inventory, ("root:",))) >= 3


def test_an_error_shows_none(start: Callable[..., Any], planted: Planted) -> None:
    """Settings that the client refuses, with the secrets among them: what it says of them holds none."""
    text = planted.inventory.read_text("utf-8").replace("sasl.username: operator", "sasl.mechanism: NONSENSE")
    planted.inventory.write_text(text.replace("client:\n", "client:\n  security.protocol: SASL_SSL\n"), "utf-8")
    run = start(SCENARIO, "--inventory", str(planted.inventory))
    assert run.finish() != 0
    assert not any(token in run.text for token in planted.tokens)
    assert not run.output.exists() or holding(run.output, planted.tokens) == []
    told = subprocess.run([sys.executable, "-m", "chaosk", "validate", str(planted.inventory)], capture_output=True,
                          text=True, check=False)  # fmt: skip
    assert not any(token in told.stdout + told.stderr for token in planted.tokens)
