"""Files of other tools, given to chaosk by mistake: one line says what each is, and what to write."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from chaosk.document import DocumentError, load_inventory, load_variants

PLAYBOOK = "- hosts: kafka\n  tasks:\n    - {name: java, apt: {name: openjdk-17-jre-headless}}\n"
GROUPS = "all:\n  children:\n    kafka: {hosts: {kafka1: {ansible_host: 192.0.2.1}}}\n"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (PLAYBOOK, "is a playbook of Ansible's"),
        (GROUPS, "is an inventory of Ansible's"),
        ("[kafka]\nkafka1 ansible_host=192.0.2.1\n", "is an inventory of Ansible's"),
        ("# a broker\nbroker.id=0\nlisteners=PLAINTEXT://:9092\n", "is a configuration of Kafka's"),
        ("bootstrap.servers=kafka1:9092\nsecurity.protocol=SASL_SSL\n", "is a client's file of properties"),
        ("apiVersion: kafka.strimzi.io/v1beta2\nkind: Kafka\n", "is a manifest of Kubernetes'"),
        ("services: {kafka: {image: kafka}}\n", "is a file of Docker Compose's"),
    ],
)
@pytest.mark.parametrize("load", [load_variants, load_inventory])
def test_what_it_is_and_what_to_write(tmp_path: Path, load: Callable[[Path], object], text: str, what: str) -> None:
    """One message, at its first line, in place of one for each key that a scenario has not."""
    file = tmp_path / "given"
    file.write_text(text, "utf-8")
    with pytest.raises(DocumentError) as caught:
        load(file)
    (line,) = str(caught.value).splitlines()
    assert line.startswith(f"{file}:1:1: {what}")
    assert "copy " in line or "chaosk discover --" in line


@pytest.mark.parametrize(
    ("fault", "path"),
    [
        ("kill_broker: {target: leader(orders, 0)}", "timeline[0].kill_broker"),
        ("cut_network: {between: [leader(orders, 0), everyone else]}", "timeline[0].cut_network.between"),
    ],
)
def test_a_call_that_a_comma_has_cut_in_two_has_to_be_quoted(tmp_path: Path, fault: str, path: str) -> None:
    """Not a word of a key that has no value, or of a list that is too long: that is what YAML has made of it."""
    file = tmp_path / "scenario.yaml"
    file.write_text(
        "name: x\nhypothesis: y\ntopics: {orders: {}}\nprobes: {writer: {produce: {topic: orders, rate: 1/s}}}\n"
        f"timeline:\n  - {{at: 1s, {fault}, for: 10s}}\n",
        "utf-8",
    )
    with pytest.raises(DocumentError) as caught:
        load_variants(file)
    (line,) = str(caught.value).splitlines()
    assert f"{path}: 'leader(orders' ends at the comma; quote all of it, like \"leader(orders, ...)\"" in line
