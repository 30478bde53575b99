"""Inventories with open questions: refused, each question at its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from chaosk.document import DocumentError, load_inventory

INVENTORY = """\
name: staging
hosts: {b1: {address: b1.example.net}}
brokers:
  1:
    host: b1
    service: {service}
    data: {data}
    listeners: {{PLAINTEXT: {{address: b1.example.net, port: 9092}}}}
"""
UNIT = "{systemd: kafka.service}"

pytestmark = pytest.mark.pure


def written(folder: Path, service: str = UNIT, data: str = "[/var/lib/kafka]") -> Path:
    """An inventory with these values."""
    file = folder / "cluster.yaml"
    text = INVENTORY.replace("hosts: {b1: {address: b1.example.net}}", "hosts: {{b1: {{address: b1.example.net}}}}")
    file.write_text(text.format(service=service, data=data), "utf-8")
    return file


def test_a_question_in_place_of_a_block_is_refused_at_its_line(tmp_path: Path) -> None:
    """The message is the question, and not that a mapping was expected there."""
    file = written(tmp_path, '"??? how is it started? Write systemd: UNIT"')
    with pytest.raises(DocumentError) as caught:
        load_inventory(file)
    said = "brokers.1.service: is an open question: how is it started? Write systemd: UNIT"
    assert str(caught.value) == f"{file}:6:14: {said}"


def test_a_question_for_an_optional_value_is_refused_too(tmp_path: Path) -> None:
    """It would otherwise be a data directory of that name, or be left out silently."""
    file = written(tmp_path, data='["??? and the second disk?"]')
    with pytest.raises(
        DocumentError, match=r":7:12: brokers\.1\.data\[0\]: is an open question: and the second disk\?$"
    ):
        load_inventory(file)


def test_an_answered_inventory_is_loaded(tmp_path: Path) -> None:
    """Question marks elsewhere are no question."""
    load_inventory(written(tmp_path, data='[/var/lib/kafka, "/mnt/what???"]'))


@pytest.mark.parametrize("key", ["proxy_jump", "ProxyJump", "jump_host", "bastion"])
def test_a_jump_host_is_refused_by_name(tmp_path: Path, key: str) -> None:
    """One line says where jump hosts are written; not that a key is unknown."""
    file = written(tmp_path)
    file.write_text(
        file.read_text("utf-8").replace("b1.example.net}}", f"b1.example.net, {key}: bastion}}}}", 1), "utf-8"
    )
    with pytest.raises(DocumentError) as caught:
        load_inventory(file)
    assert str(caught.value) == (
        f"{file}:2:39: hosts.b1.{key}: write jump hosts into a configuration of ssh(1), and name that: "
        "ssh: {config: ~/.ssh/config}"
    )
