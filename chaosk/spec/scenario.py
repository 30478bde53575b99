"""A scenario: one experiment as a user writes it, typed and frozen. ``chaosk.document`` reads the YAML."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    Field,
    GetJsonSchemaHandler,
    SerializeAsAny,
    SerializerFunctionWrapHandler,
    StringConstraints,
    field_serializer,
    field_validator,
    model_serializer,
    model_validator,
)
from pydantic_core import CoreSchema

from chaosk.core import plugins
from chaosk.core.model import Model
from chaosk.core.units import Duration
from chaosk.spec.after import After
from chaosk.spec.allow import Allow
from chaosk.spec.bounds import Bound
from chaosk.spec.contracts.probe import Probe
from chaosk.spec.contracts.step import Step
from chaosk.spec.contracts.stop_rules import Rules
from chaosk.spec.expect import Expect
from chaosk.spec.fields import Name, Version

__all__ = ["After", "Bound", "ClusterShape", "Entry", "Expect", "Scenario", "Size", "Topic", "probes", "steps"]

GRAMMAR = ("name", "at", "after", "when", "timeout", "for")
"""The keys of a timeline entry other than the step."""

TopicName = Annotated[str, StringConstraints(pattern=r"^[a-zA-Z0-9._-]{1,249}$")]
M = TypeVar("M", bound=Model)
Scalar = str | int | float | bool
Strings = Annotated[tuple[str, ...], Field(strict=False)]


class Topic(Model):
    """A topic that the scenario owns: created before the run if missing, refused if it exists with another shape."""

    partitions: Annotated[int, Field(ge=1, le=10_000)] = 1
    """Number of partitions."""
    replication_factor: Annotated[int, Field(ge=1, le=9)] = 3
    """Number of brokers that hold each partition."""
    config: dict[str, Scalar] = Field(default_factory=dict)
    """Topic configuration, like ``min.insync.replicas: 2``."""

    @property
    def compacted(self) -> bool:
        """True if its log is compacted, so that records legitimately disappear."""
        return "compact" in str(self.config.get("cleanup.policy", ""))


class Size(Model):
    """A number of something: exact or bounded."""

    min: Annotated[int, Field(ge=0)] = 0
    max: Annotated[int, Field(ge=0)] | None = None

    @model_validator(mode="before")
    @classmethod
    def _exact(cls, value: object) -> object:
        return {"min": value, "max": value} if isinstance(value, int) and not isinstance(value, bool) else value

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {"anyOf": [{"type": "integer", "minimum": 0}, super().__get_pydantic_json_schema__(core, handler)]}


class ClusterShape(Model):
    """Requirements on the cluster; a lab is started in the smallest matching shape."""

    brokers: Size = Size(min=3)
    zookeepers: Size = Size(min=3)
    """With ZooKeeper; ignored in KRaft mode."""
    controllers: Size = Size()
    """KRaft controllers that are not brokers; ignored with ZooKeeper."""
    mode: Literal["zookeeper", "kraft"] | None = None
    """The keeper of its metadata; by default any, and ZooKeeper in a lab."""
    data_dirs: Annotated[int, Field(ge=1, le=4)] = 1
    """Minimum number of data directories of each broker."""
    hosts: Literal["hosts", "vms"] = "hosts"
    """The kind of a lab's hosts; ignored for a cluster of your own, whose capabilities preflight examines."""
    secure: bool = False
    """True if clients must connect by TLS, and the probes with their own login (``probe_client``)."""
    racks: Annotated[tuple[Name, ...], Field(strict=False)] = ()
    """Racks (``broker.rack``) that must each have a broker; a lab assigns its brokers to them in turn: ``[a, a,
    b]``."""
    versions: Annotated[tuple[Version, ...], Field(strict=False, max_length=4)] = ()
    """Kafka versions to install in a lab, the first of them in use; on a cluster of your own the steps check theirs."""
    config: dict[str, Scalar] = Field(default_factory=dict)
    """Settings that every broker must have, like ``auto.leader.rebalance.enable: true``; a lab is started with them."""


class Entry(Model):
    """One entry of the timeline: its start, its action, its duration.

    Triggers: ``at`` counts from the start of the timeline; ``after`` from another entry; ``when`` waits for a
    condition, from ``at`` or ``after`` on if given as well, else from when the entry above it is done. An entry without
    a trigger starts when the entry above it is done. Entries may overlap.
    """

    name: Name
    """Given by the user, or made of the step's name and the entry's position, like ``kill_broker-1``."""
    at: Duration | None = None
    """Start, counted from the start of the timeline."""
    after: After | None = None
    """The earlier entry that it waits for."""
    when: str | None = None
    """A condition, like ``isr_full(orders)``."""
    timeout: Duration = 60.0
    """Time-out of ``when``; after it the run is inconclusive."""
    lasts: Annotated[Duration | None, Field(alias="for")] = None
    """Duration of the fault until it is undone; without it, until the end of the timeline."""
    kind: str
    """The step's name."""
    step: SerializeAsAny[Step]

    @model_validator(mode="before")
    @classmethod
    def _from_document(cls, value: object) -> object:
        if not isinstance(value, Mapping) or "kind" in value:
            return value
        kind = step_of(value)
        grammar = {key: each for key, each in value.items() if key in GRAMMAR}
        return {**grammar, "kind": kind, "step": from_plain(steps()[kind], value[kind])}

    @model_serializer(mode="wrap", when_used="json")
    def _to_document(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        plain: dict[str, Any] = handler(self)
        step = {plain.pop("kind"): plain.pop("step")}
        return {key: each for key, each in plain.items() if each is not None} | step


class Scenario(Model):
    """One experiment: topics, probes, a timeline of faults, and the expected behaviour of the cluster."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=120)]
    """The experiment in a few words; names the folder of its runs."""
    hypothesis: Annotated[str, StringConstraints(min_length=1)]
    """The property that should stay true, in plain words."""
    covers: Strings = ()
    """Ids of the manual experiments that it replaces."""
    tags: Strings = ()
    """Words to find it by."""
    cluster: ClusterShape = ClusterShape()
    """The required cluster; by default at least three brokers and three ZooKeeper nodes."""
    variables: dict[Name, Scalar] = Field(default_factory=dict)
    """Defaults of ``${name}`` in any value; ``--set name=value`` overrides them."""
    allow: Allow = Allow()
    """Limits of harm that it lifts, each with the reason; by default none."""
    stop_conditions: Rules = ()
    """Conditions that end the run at once and heal, in addition to the inventory's."""
    topics: dict[TopicName, Topic] = Field(min_length=1)
    """By name; created before the run if missing."""
    probes: dict[Name, SerializeAsAny[Probe]] = Field(min_length=1)
    """By name; each has one key, the kind of probe."""
    baseline: Duration = 5.0
    """Time without faults before the timeline starts; recovery is measured against it."""
    timeline: Annotated[tuple[Entry, ...], Field(strict=False)]
    """The faults and other steps, with their start and duration."""
    settle: Duration = 10.0
    """Time in which the probes go on after the last heal; extended while a transaction may hang: see validate."""
    expect: Expect = Expect()

    @property
    def probes_as_written(self) -> dict[str, dict[str, Any]]:
        """The probes by name, each as its kind and its settings, as in ``plan.json``."""
        written: dict[str, dict[str, Any]] = self.model_dump(mode="json", by_alias=True, include={"probes"})["probes"]
        return written

    @property
    def groups(self) -> tuple[str, ...]:
        """The consumer groups of its probes, sorted."""
        return tuple(sorted({group for probe in self.probes.values() for group in probe.groups()}))

    @property
    def configured(self) -> dict[str, Scalar]:
        """The settings that every broker must have, for the scenario or for one of its steps."""
        needed = {name: value for entry in self.timeline for name, value in entry.step.configured.items()}
        return {**self.cluster.config, **needed}

    @property
    def transactional_ids(self) -> tuple[str, ...]:
        """The ``transactional.id`` of each transactional probe, sorted."""
        return tuple(sorted({each for name, probe in self.probes.items() for each in probe.transactional_ids(name)}))

    @property
    def digest(self) -> str:
        """Digest of the scenario: equal for scenarios with the same effect."""
        return hashlib.sha256(self.model_dump_json(by_alias=True).encode()).hexdigest()[:16]

    @field_validator("timeline", mode="before")
    @classmethod
    def _named(cls, value: object) -> object:
        if not isinstance(value, list):
            return value
        return [
            {"name": default_name(place, entry), **entry} if isinstance(entry, Mapping) else entry
            for place, entry in enumerate(value)
        ]

    @field_validator("probes", mode="before")
    @classmethod
    def _kinds(cls, value: object) -> object:
        return {name: probe_of(each) for name, each in value.items()} if isinstance(value, Mapping) else value

    @field_serializer("probes", mode="wrap", when_used="json")
    def _with_kinds(self, value: dict[str, Probe], handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        plain = handler(value)
        return {name: {plugins.name_of(type(probe)): plain[name]} for name, probe in value.items()}


def step_of(entry: Mapping[str, object]) -> str:
    """Return the name of the step in a written entry; raises ValueError unless there is exactly one known step."""
    (kind,) = [key for key in entry if key not in GRAMMAR]
    return kind


def default_name(place: int, entry: Mapping[str, object]) -> str:
    """Return the default name of an entry: its step and its position, from 1."""
    others = [key for key in entry if key not in GRAMMAR]
    return f"{others[0] if others else 'entry'}-{place + 1}"


def probe_of(value: object) -> object:
    """Return the probe that ``{kind: settings}`` describes; other values unchanged. Raises ValueError if invalid."""
    if not isinstance(value, Mapping):
        return value
    ((kind, fields),) = value.items()
    return from_plain(probes()[kind], fields)


def from_plain(kind: type[M], fields: object) -> M:
    """Build a value from its document form; raises pydantic's ValidationError."""
    # JSON's rules, not Python's, so that a list may become a tuple, and a word an enumeration member
    return kind.model_validate_json(json.dumps(fields))


def steps() -> dict[str, type[Step]]:
    """Return every kind of step by its YAML name."""
    return plugins.discover("chaosk.steps", Step)


def probes() -> dict[str, type[Probe]]:
    """Return every kind of probe by its YAML name."""
    return plugins.discover("chaosk.probes", Probe)
