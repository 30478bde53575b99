"""Input of a probe's process, as a file: neither it nor any command line contains a secret."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Final

from pydantic import Field, JsonValue, ValidationError

from chaosk.core import plugins
from chaosk.core.errors import UsageError
from chaosk.core.model import Model
from chaosk.spec.contracts.probe import Probe
from chaosk.spec.fields import Id, Name
from chaosk.spec.inventory import Inventory, SecretRef
from chaosk.spec.scenario import Topic
from chaosk.spec.secrets import resolve

FILE: Final = "spec.json"
"""Its name in the folder of the process."""


class WorkerSpec(Model):
    """One incarnation of one probe."""

    run_id: str
    probe: Name
    """The probe's name in the scenario."""
    incarnation: int
    """Number of the process of that probe, from 0."""
    kind: str
    """The kind of probe: its YAML name."""
    fields: dict[str, JsonValue]
    """The probe's own fields, as in the scenario."""
    client: dict[str, str | int | bool | SecretRef]
    """librdkafka settings from the inventory; secrets are references, resolved in the process."""
    live: str
    """Folder for its event streams."""
    brokers: dict[Id, Annotated[tuple[str, int], Field(strict=False)]] = Field(default_factory=dict)
    """Host and port for clients by broker id, as in the inventory."""
    partitions: dict[str, int] = Field(default_factory=dict)
    """Number of partitions by topic of the scenario."""

    def load(self) -> Probe:
        """Create the probe; raises UsageError for an unknown kind or an invalid field."""
        kinds = plugins.discover("chaosk.probes", Probe)
        if self.kind not in kinds:
            raise UsageError(f"{self.kind}: there is no such kind of probe; there are {', '.join(kinds)}")
        try:
            probe: Probe = kinds[self.kind].model_validate(self.fields)
        except ValidationError as error:
            raise UsageError(f"{self.probe}: {error.errors()[0]['loc']}: {error.errors()[0]['msg']}") from error
        return probe

    def settings(self) -> dict[str, Any]:
        """Return the client settings with resolved secrets; raises PreflightError for a missing one."""
        return {
            name: resolve(value).reveal() if isinstance(value, SecretRef) else value
            for name, value in self.client.items()
        }


def spec_of(
    probe: Probe,
    inventory: Inventory,
    who: tuple[str, str, int],
    folder: Path,
    topics: Mapping[str, Topic] = MappingProxyType({}),
) -> WorkerSpec:
    """Return the spec of ``who``: run id, the probe's name, incarnation. Its events go to ``folder``."""
    run_id, name, incarnation = who
    places = {"bootstrap.servers": inventory.bootstrap_servers()}
    client: Mapping[str, Any] = {**inventory.client, **inventory.probe_client, **places}
    return WorkerSpec(
        run_id=run_id,
        probe=name,
        incarnation=incarnation,
        kind=plugins.name_of(type(probe)),
        fields=probe.model_dump(mode="json", by_alias=True),
        client=dict(client),
        live=str(folder),
        brokers=inventory.client_addresses(),
        partitions={name: topic.partitions for name, topic in topics.items()},
    )


def read(path: Path) -> WorkerSpec:
    """Read the spec in a file; raises UsageError if it is invalid."""
    try:
        return WorkerSpec.model_validate(json.loads(path.read_text("utf-8")))
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: not the spec of a probe's process: {error}") from error
