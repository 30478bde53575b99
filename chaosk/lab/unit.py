"""Services under systemd, on hosts that have it: the unit, and its entry in the inventory. Pure."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath
from typing import TypeVar

from chaosk.lab.service import Service
from chaosk.spec.inventory import Inventory, ScriptService, ServerProcess, SystemdService

P = TypeVar("P", bound=ServerProcess)

DIRECTORY = "/etc/systemd/system"

_UNIT = """[Unit]
Description={name} of the lab
After=network.target

[Service]
User=kafka
Environment=KAFKA_HEAP_OPTS=-Xmx{heap}
Environment=KAFKA_LOG4J_OPTS={log4j}
{before}ExecStart=/opt/kafka/bin/kafka-run-class.sh {main} /opt/kafka/config/{config}
# What a JVM says that was asked to end by SIGTERM
SuccessExitStatus=143
# As most units of Kafka have it: a process that crashes comes back by itself
Restart=on-failure
RestartSec=5
LimitNOFILE=100000

[Install]
WantedBy=multi-user.target
"""


def text(name: str, main: str, config: str, heap: str, log4j: str, *, prepare: str | None = None) -> str:
    """Return the unit of the service ``name`` with the main class ``main``; root runs the script ``prepare`` first."""
    before = "" if prepare is None else f"ExecStartPre=+{prepare}\n"
    return _UNIT.format(name=name, main=main, config=config, heap=heap, log4j=log4j, before=before)


def named(start: tuple[str, ...]) -> str:
    """Return the unit that replaces the script ``start``.

    >>> named(("/opt/kafka/bin/kafka-start",))
    'kafka.service'
    """
    return f"{PurePosixPath(start[0]).name.removesuffix('-start')}.service"


def controlled(one: Service) -> Service:
    """Return ``one``, started and stopped by systemd."""
    unit = named(one.start)
    return replace(one, start=("systemctl", "start", "--no-block", unit), stop=("systemctl", "stop", unit))


def inventory(found: Inventory) -> Inventory:
    """Return ``found`` with services run by systemd instead of scripts."""
    return found.model_copy(
        update={
            "brokers": {number: _entry(one) for number, one in found.brokers.items()},
            "zookeepers": {number: _entry(one) for number, one in found.zookeepers.items()},
            "controllers": {number: _entry(one) for number, one in found.controllers.items()},
        }
    )


def _entry(process: P) -> P:
    match process.service:
        case ScriptService(start=start):
            return process.model_copy(update={"service": SystemdService(systemd=named(start))})
        case _:
            return process
