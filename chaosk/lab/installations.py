"""Several versions of Kafka on each host, as operators keep them: separate folders, and a link to the one in use.

With a single version there is no link: ``/opt/kafka`` is the folder itself. Pure.
"""

from __future__ import annotations

from typing import TypeVar

from chaosk.core.errors import UsageError
from chaosk.lab import jars
from chaosk.spec.installation import Installation
from chaosk.spec.inventory import Inventory, KafkaProcess
from chaosk.spec.lab_layout import LabLayout

P = TypeVar("P", bound=KafkaProcess)

LINK = "/opt/kafka"
"""The path by which everything on a host uses Kafka."""


def folder(version: str) -> str:
    """Return the folder of a version, if there are several.

    >>> folder("3.9.1")
    '/opt/kafka-3.9.1'
    """
    return f"{LINK}-{version}"


def check(layout: LabLayout) -> None:
    """Raise UsageError for versions that cannot be installed beside the lab's own."""
    if layout.also and layout.hosts == "vms":
        raise UsageError("also: virtual machines have one version of Kafka each; leave it out, or write hosts: hosts")
    for version in layout.also:
        if version == layout.kafka or layout.also.count(version) > 1:
            raise UsageError(f"also: {version} is installed already; name other versions than that of `kafka`")
        if jars.major(version) != jars.major(layout.kafka):
            raise UsageError(
                f"also: {version} logs and is started in another way than {layout.kafka}; take one of the same major "
                "version"
            )


def commands(root: str, installed: tuple[tuple[str, str], ...]) -> list[list[str]]:
    """Return the commands that split ``/opt/kafka`` below ``root`` into a folder for each version, and add the link.

    ``installed`` has versions and the directories of their jars; the first is the one in use.
    """
    if len(installed) < 2:
        return []
    first, *others = (root + folder(version) for version, _ in installed)
    return [
        ["rm", "-rf", first, *others],
        ["mv", root + LINK, first],
        *(["cp", "-a", first, other] for other in others),
        ["mkdir", "-p", *(f"{each}/libs" for each in (first, *others))],
        ["ln", "-s", first.rpartition("/")[2], root + LINK],
    ]


def libs(installed: tuple[tuple[str, str], ...]) -> list[tuple[str, str]]:
    """Return the directories of jars, and their mount points on a host."""
    if len(installed) < 2:
        return [(at, f"{LINK}/libs") for _, at in installed]
    return [(at, f"{folder(version)}/libs") for version, at in installed]


def inventory(found: Inventory, layout: LabLayout) -> Inventory:
    """Return ``found`` with the installations of every broker and controller."""
    every = {version: folder(version) for version in (layout.kafka, *layout.also)}
    installation = Installation(link=LINK, versions=every)
    return found.model_copy(
        update={
            "brokers": {number: _entry(one, installation) for number, one in found.brokers.items()},
            "controllers": {number: _entry(one, installation) for number, one in found.controllers.items()},
        }
    )


def _entry(process: P, installation: Installation) -> P:
    return process.model_copy(update={"installation": installation})
