"""A run on a cluster whose clients log in by tokens: probes and chaosk itself, each as a client of its own.

The token server is Keycloak. Brokers end a connection when the token that opened it has expired.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml
from keycloak import LIFETIME, Keycloak

pytestmark = [pytest.mark.lab, pytest.mark.timeout(1500), pytest.mark.long]

SCENARIO = f"""\
name: Kill a leader that wants tokens
hypothesis: Clients find the next one, log in there, and nothing acknowledged is lost, however old their token is.
topics:
  orders: {{partitions: 3, replication_factor: 3, config: {{min.insync.replicas: 2}}}}
probes:
  writer: {{produce: {{topic: orders, rate: 50/s, config: {{acks: all, enable.idempotence: true}}}}}}
  reader: {{consume: {{topic: orders, group: readers, commit: sync}}}}
baseline: 2s
timeline:
  - {{name: kill, at: 1s, kill_broker: {{target: "leader(orders, 0)"}}, for: 5s}}
settle: {2 * LIFETIME + 10}s
"""


def test_a_leader_is_killed(start: Callable[..., Any], lab_inventory: Path, server: Keycloak) -> None:
    """No finding, every broker watched to the end; tokens expire twice meanwhile, and each client gets others.

    No secret is in what a run leaves, and none is printed.
    """
    before = {name: server.given(name) for name in ("chaosk", "probes")}
    run = start(SCENARIO)
    code = run.finish()
    verdict = run.read("verdict.json")
    assert not [one for one in verdict["findings"] if one["severity"] == "violation"], run.text
    assert code in {0, 2}, run.text  # 2 where the machine stood still
    assert [(one["name"], one["took"], one["undone"]) for one in verdict["faults"]] == [("kill", True, True)]
    (fault,), events = verdict["faults"], run.rundir() / "events"
    twice = fault["healed"] + 2 * LIFETIME * 10**9
    watched = pq.read_table(events / "brokers.parquet").to_pylist()
    assert {row["asked"] for row in watched if row["error"] is None and row["completed"] > twice} == {0, 1, 2}
    for table, at in (("sends", "completed"), ("reads", "at")):
        rows = pq.read_table(events / f"{table}.parquet").to_pylist()
        assert [row for row in rows if (row[at] or 0) > twice], table
    assert all(server.given(name) >= count + 3 for name, count in before.items())
    for name in before:
        secret = lab_inventory.with_name(f"{name}_secret").read_bytes()
        assert not [file for file in run.rundir().rglob("*") if file.is_file() and secret in file.read_bytes()]
        assert secret.decode() not in run.text


def altered(lab_inventory: Path, name: str, **client: object) -> Path:
    """An inventory beside the other with other client settings."""
    found = yaml.safe_load(lab_inventory.read_text("utf-8"))
    found["client"] |= {key.replace("_", "."): value for key, value in client.items()}
    path = lab_inventory.with_name(f"{name}.yaml")
    path.write_text(yaml.safe_dump(found), "utf-8")
    return path


def refused(run: Any) -> str:
    """What a run said that ended in preflight, as one line."""
    began = time.monotonic()
    assert run.finish() == 69, run.text
    assert time.monotonic() - began < 120
    assert "Traceback" not in run.text
    return " ".join(run.text.split())


def test_a_wrong_secret(start: Callable[..., Any], lab_inventory: Path, server: Keycloak) -> None:
    """The token server refuses it: its own word, once, and what to correct; the secret that was tried is not told."""
    lab_inventory.with_name("wrong_secret").write_text("swordfish-4711\n")
    wrong = altered(lab_inventory, "wrong-secret", sasl_oauthbearer_client_secret={"file": "wrong_secret"})
    said = refused(start(SCENARIO, "--inventory", str(wrong)))
    assert f"the token server {server.token_url} refuses the client 'chaosk': unauthorized_client" in said
    assert said.count("refuses the client") == 1
    assert "sasl.oauthbearer.client.secret" in said
    assert "swordfish" not in said


def test_a_wrong_secret_of_the_probes(start: Callable[..., Any], lab_inventory: Path) -> None:
    """Their client is named, and in one line as well."""
    lab_inventory.with_name("wrong_secret").write_text("swordfish-4711\n")
    found = yaml.safe_load(lab_inventory.read_text("utf-8"))
    found["probe_client"]["sasl.oauthbearer.client.secret"] = {"file": "wrong_secret"}
    wrong = lab_inventory.with_name("wrong-probes.yaml")
    wrong.write_text(yaml.safe_dump(found), "utf-8")
    said = refused(start(SCENARIO, "--inventory", str(wrong)))
    assert "token of the probes: the token server" in said
    assert said.count("refuses the client 'probes'") == 1


def test_an_authority_that_did_not_sign(start: Callable[..., Any], lab_inventory: Path) -> None:
    """A token server that is not trusted is told as that, and not as a broker that is."""
    wrong = altered(lab_inventory, "no-authority", https_ca_location="probe")
    said = refused(start(SCENARIO, "--inventory", str(wrong)))
    assert "no connection by TLS" in said
    assert "correct client: https.ca.location" in said


def test_no_token_server(start: Callable[..., Any], lab_inventory: Path, server: Keycloak) -> None:
    """An address at which nobody is."""
    nowhere = server.token_url.replace(":18443", ":1")
    wrong = altered(lab_inventory, "no-server", sasl_oauthbearer_token_endpoint_url=nowhere)
    said = refused(start(SCENARIO, "--inventory", str(wrong)))
    assert f"the token server {nowhere} cannot be reached: connection refused" in said
