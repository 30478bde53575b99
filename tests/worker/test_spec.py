"""The spec of a probe's process: complete, without secrets, and refused when it is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from chaosk.core.errors import PreflightError, UsageError
from chaosk.probes.consume import Consume
from chaosk.probes.health_check import HealthCheck
from chaosk.probes.produce import Produce
from chaosk.probes.worker.spec import read, spec_of
from chaosk.spec.inventory import Inventory


def inventory(**client: Any) -> Inventory:
    """Two brokers with a listener for clients and one for themselves."""
    brokers = {
        number: {
            "host": "node1",
            "service": {"systemd": "kafka.service"},
            "listeners": {
                "CLIENT": {"address": "192.0.2.1", "port": 9092 + number},
                "INTERNAL": {"address": "192.0.2.1", "port": 9192 + number, "clients": False},
            },
        }
        for number in (0, 1)
    }
    return Inventory.model_validate(
        {"name": "test", "hosts": {"node1": {"address": "192.0.2.1"}}, "brokers": brokers, "client": client}
    )


def test_a_probe_comes_back_from_its_file(tmp_path: Path) -> None:
    """Kind and fields survive the file, whatever the kind."""
    probes = (
        Produce.model_validate({"topic": "orders", "rate": "7/s", "ramp": {"to": "9/s", "over": "5s"}}),
        Consume.model_validate({"topic": "orders", "group": "g", "commit": "sync", "commit_every": 10}),
    )
    for probe in probes:
        path = tmp_path / "spec.json"
        spec = spec_of(probe, inventory(), ("run-1", "writer", 2), tmp_path)
        path.write_text(spec.model_dump_json())
        assert read(path) == spec
        assert read(path).load() == probe
        assert (spec.probe, spec.incarnation, spec.kind) == ("writer", 2, type(probe).__name__.lower())


def test_who_is_to_reach_each_broker_is_told_where(tmp_path: Path) -> None:
    """The client listener of each broker, by its id, as it comes back from the file."""
    path = tmp_path / "spec.json"
    spec = spec_of(HealthCheck(), inventory(), ("run-1", "health", 0), tmp_path)
    path.write_text(spec.model_dump_json())
    assert read(path).brokers == {0: ("192.0.2.1", 9092), 1: ("192.0.2.1", 9093)}
    assert read(path).load() == HealthCheck()


def test_clients_come_in_by_the_client_listeners(tmp_path: Path) -> None:
    """Bootstrap servers are every client listener, and no other."""
    spec = spec_of(Produce(topic="orders"), inventory(), ("run-1", "writer", 0), tmp_path)
    assert spec.settings()["bootstrap.servers"] == "192.0.2.1:9092,192.0.2.1:9093"


def test_named_bootstrap_servers_win(tmp_path: Path) -> None:
    """What the inventory names itself is used as it is."""
    found = inventory(**{"bootstrap.servers": "proxy:1"})
    spec = spec_of(Produce(topic="orders"), found, ("run-1", "writer", 0), tmp_path)
    assert spec.settings()["bootstrap.servers"] == "proxy:1"


def test_secrets_are_in_the_process_and_not_in_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file has the reference; only ``settings``, called in the process, has the secret."""
    (tmp_path / "password").write_text("hunter2\n")
    monkeypatch.setenv("KEY_PASSWORD", "swordfish")
    client = {"sasl.password": {"file": str(tmp_path / "password")}, "ssl.key.password": {"env": "KEY_PASSWORD"}}
    spec = spec_of(Produce(topic="orders"), inventory(**client), ("run-1", "writer", 0), tmp_path)
    written = spec.model_dump_json()
    assert "hunter2" not in written
    assert "swordfish" not in written
    assert spec.settings()["sasl.password"] == "hunter2"
    assert spec.settings()["ssl.key.password"] == "swordfish"


def test_a_secret_that_is_not_there_is_one_clear_error(tmp_path: Path) -> None:
    """The environment variable is named."""
    client = {"sasl.password": {"env": "NO_SUCH_VARIABLE"}}
    spec = spec_of(Produce(topic="orders"), inventory(**client), ("run-1", "writer", 0), tmp_path)
    with pytest.raises(PreflightError, match="NO_SUCH_VARIABLE is not set"):
        spec.settings()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"probe": "writer"}', '{"run_id": 5}'])
def test_what_is_no_spec_is_refused(tmp_path: Path, text: str) -> None:
    """A file that somebody else wrote is one clear error."""
    path = tmp_path / "spec.json"
    path.write_text(text)
    with pytest.raises(UsageError, match="not the spec of a probe's process"):
        read(path)


def test_a_spec_that_is_not_there_is_refused(tmp_path: Path) -> None:
    """So is no file at all."""
    with pytest.raises(UsageError, match="not the spec"):
        read(tmp_path / "none.json")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"kind": "conjure"},
            "conjure: there is no such kind of probe; there are call, consume, health_check, produce",
        ),
        ({"fields": {"topic": "orders", "rate": "fast"}}, "writer: .*rate.* is not a rate"),
        ({"fields": {}}, "writer: .*topic"),
    ],
)
def test_a_spec_that_names_no_probe_is_refused(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    """An unknown kind and a wrong field are named."""
    spec = spec_of(Produce(topic="orders"), inventory(), ("run-1", "writer", 0), tmp_path)
    path = tmp_path / "spec.json"
    path.write_text(json.dumps({**spec.model_dump(mode="json"), **change}))
    with pytest.raises(UsageError, match=message):
        read(path).load()
