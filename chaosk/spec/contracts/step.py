"""Contract of steps: a value that describes a fault; it neither connects nor waits.

For its target nodes, a step yields *deeds* (actions) and *facts* (expected observations). The engine in ``chaosk.run``
freezes them into a :class:`PreparedFault`, journals it, and only then acts:

    before -> [undo journalled] -> inject -> verify -> ... -> verify again -> undo -> healed

A fault whose ``before`` or ``verify`` does not hold did not take, and the verdict is INCONCLUSIVE. Deeds, facts and
whole faults are data (JSON), so that another process or host can execute the undo.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from inspect import isabstract
from types import MappingProxyType
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from chaosk.core.errors import UsageError
from chaosk.core.model import Model
from chaosk.core.plugins import name_of
from chaosk.spec.command import Command
from chaosk.spec.contracts.target import Node, NodeKind
from chaosk.spec.entity import Entity, Settings
from chaosk.spec.harm import Harm, servers_of
from chaosk.spec.inventory import Broker, Controller, Inventory, ZooKeeper
from chaosk.spec.quorum import RequiredMode
from chaosk.spec.topic_shape import TopicShape


class Run(Model):
    """Deed: run a command on a host; it fails unless it exits with 0."""

    do: Literal["run"] = "run"
    command: Command
    heals: bool = False
    """True for a part of the injection that heals: it is executed like an undo, whether the lease is valid or not."""


class Elect(Model):
    """Deed: ask the controller to elect leaders of partitions."""

    do: Literal["elect"] = "elect"
    topic: str
    partitions: Annotated[tuple[int, ...], Field(strict=False)] | None = None
    """None for all of them."""
    election: Literal["preferred", "unclean"]


class Reassign(Model):
    """Deed: ask the controller to reassign partitions to other replicas, or to cancel a reassignment."""

    do: Literal["reassign"] = "reassign"
    topic: str
    partitions: Annotated[tuple[int, ...], Field(strict=False)] | None = None
    """None for all of them; to cancel, None for those under reassignment."""
    replicas: Annotated[tuple[int, ...], Field(strict=False)] | None
    """Broker ids, the preferred leader first; None cancels."""


class Configure(Model):
    """Deed: ask the controller to set or remove settings."""

    do: Literal["configure"] = "configure"
    settings: Settings
    back: bool = False
    """True if it restores the former values."""


class AddPartitions(Model):
    """Deed: ask the controller to give a topic more partitions."""

    do: Literal["add_partitions"] = "add_partitions"
    topic: str
    count: int
    """The resulting number of partitions."""


class DeleteTopic(Model):
    """Deed: delete a topic that chaosk made, and wait until no broker knows it."""

    do: Literal["delete_topic"] = "delete_topic"
    topic: str
    identity: str
    """Its topic id, so that a different topic of the same name is never deleted."""


class MakeTopic(Model):
    """Deed: create a deleted topic with its former shape, and wait until every leader serves it."""

    do: Literal["make_topic"] = "make_topic"
    shape: TopicShape
    back: bool = False
    """True for an undo: an existing topic is left alone, whoever created it."""


Operation = Elect | Reassign | Configure | AddPartitions | DeleteTopic | MakeTopic
"""Requests to the controller."""


class Signal(Model):
    """Deed: start a probe, end it cleanly, kill it, pause it, or resume it."""

    do: Literal["signal"] = "signal"
    probe: str
    action: Literal["start", "stop", "kill", "pause", "resume"]


class Names(Model):
    """Deed: make name lookups of probes fail, time out or lead elsewhere, or restore them."""

    do: Literal["names"] = "names"
    action: Literal["refuse", "silence", "move", "restore"]
    names: Annotated[tuple[str, ...], Field(strict=False)] = ()
    """The names that move."""
    to: str | None = None
    """The address to which they lead."""


class Pause(Model):
    """Deed: let time pass."""

    do: Literal["pause"] = "pause"
    seconds: float


class Look(Model):
    """Deed: record the state of the cluster."""

    do: Literal["look"] = "look"
    entry: str
    """Its name in the report."""


class Fact(Model):
    """An expected observation: a command that exits with 0, or a condition that holds, within a time.

    Used as a deed it is waited for, and its absence fails the step.
    """

    do: Literal["await"] = "await"
    says: str
    """The fact in words, like ``broker 2 is gone``."""
    query: Command | Settings | str
    """A command (its output is the evidence), settings that must be in force, or a condition as text, like
    ``broker_up(2)``."""
    within: float = 0.0
    """Seconds to keep asking; 0 asks once."""
    doubt: float | None = None
    """Time-out in seconds for a definite "no"; without an answer, asking goes on until ``within``. None: same as
    ``within``."""
    still: bool = True
    """True if, as an effect, it must be seen again before the undo. False for an effect that may legitimately end
    earlier."""
    steady: bool = True
    """True if, as an effect, it is checked repeatedly while the fault lasts. False for a fact that is expensive to
    check, has side effects, is unstable under load, or is answered wrongly by a broker that is cut off from its
    peers."""
    last: bool = False
    """True if, as an effect, it is checked only before the undo, because it takes that time to come about."""
    remedy: str | None = None
    """The remedy if it did not last."""


Deed = Annotated[
    Run | Elect | Reassign | Configure | AddPartitions | DeleteTopic | MakeTopic | Signal | Names | Pause | Look | Fact,
    Field(discriminator="do"),
]


class PreparedFault(Model):
    """One fault, ready to be injected and undone: pure data with resolved targets."""

    name: str
    """The timeline entry's name, unique in the run."""
    step: str
    targets: Annotated[tuple[Node, ...], Field(strict=False)]
    before: Annotated[tuple[Fact, ...], Field(strict=False)]
    inject: Annotated[tuple[Deed, ...], Field(strict=False)]
    verify: Annotated[tuple[Fact, ...], Field(strict=False)]
    undo: Annotated[tuple[Deed, ...], Field(strict=False)]
    healed: Annotated[tuple[Fact, ...], Field(strict=False)]
    harm: Annotated[tuple[Harm, ...], Field(strict=False)] = ()
    """The harm to the cluster, one value for each moment; empty if it does none."""
    holds: Annotated[tuple[str, ...], Field(strict=False)] = ()
    """The objects that it changes, like ``the process of broker 1``: two faults with a common one contradict each
    other."""
    tidy: Annotated[tuple[Deed, ...], Field(strict=False)] = ()
    """Deeds of the run after healing is verified; healing does not depend on them."""
    watch: Annotated[tuple[Fact, ...], Field(strict=False)] = ()
    """Facts that are checked repeatedly while it is in place; each once, without waiting."""
    aimed: str = ""
    """Its targets in words; empty in faults that an older version stored."""
    down: Annotated[tuple[str, ...], Field(strict=False)] = ()
    """Hosts that it takes down as a whole, and that return with a new boot."""

    @property
    def whom(self) -> str:
        """Its targets in words."""
        return self.aimed or ", ".join(map(str, self.targets))


@dataclass(frozen=True, slots=True)
class Site:
    """The place where a step acts: the inventory and the resolved nodes of its targets."""

    inventory: Inventory
    run_id: str
    """``[A-Za-z0-9._-]``, marks everything that is left on a host."""
    entry: str
    """Name of the timeline entry, unique in the run."""
    aims: Mapping[str, tuple[Node, ...]]
    """The nodes of each target expression, as written, at the time when the step fired."""
    boot_id: str = ""
    """Boot id of the machine that runs chaosk, which no step may reboot."""
    former: Mapping[Entity, Mapping[str, str]] = field(default_factory=dict)
    """The former values of what it :meth:`Step.changes`, read when the step fired; empty if no cluster was asked."""

    topics: Mapping[str, TopicShape] = field(default_factory=dict)
    """The former shapes of the topics that it :meth:`Step.remakes`, by name; empty if no cluster was asked."""

    def mark(self, *parts: str) -> str:
        """Return an id for what the entry leaves on a host, unique to the run, the entry and ``parts``."""
        return hashlib.sha256("/".join((self.run_id, self.entry, *parts)).encode()).hexdigest()[:10]

    def former_of(self, settings: Settings) -> Settings:
        """Return the same settings with their values at the time when the step fired."""
        former = self.former.get(settings.of, {})
        return Settings(of=settings.of, values={name: former.get(name) for name in settings.values})

    def nodes(self, *targets: str) -> tuple[Node, ...]:
        """Return the nodes of one or more target expressions, in order, each once."""
        return tuple(dict.fromkeys(node for target in targets for node in self.aims[target]))

    def broker(self, node: Node) -> Broker:
        """Return the inventory's entry of a broker node."""
        return self.inventory.brokers[int(node.id)]

    def controller(self, node: Node) -> Broker | Controller:
        """Return the inventory's entry of a KRaft controller; in combined mode that is a broker's."""
        return self.inventory.voters()[int(node.id)]

    def zookeeper(self, node: Node) -> ZooKeeper:
        """Return the inventory's entry of a ZooKeeper node."""
        return self.inventory.zookeepers[int(node.id)]


_TARGET = "target"


class Step(Model, ABC):
    """One kind of timeline entry. Its YAML name is its file name, its YAML keys are its fields."""

    plugin_name: ClassVar[str]
    """Its YAML name, if it is one of the :meth:`forms` of another step; otherwise its file name is."""
    example: ClassVar[str]
    """A timeline entry in YAML, ready to copy."""
    lasting: ClassVar[bool]
    """True if it leaves something to undo, so that ``for`` makes sense."""
    ends: ClassVar[tuple[str, ...]] = ()
    """Kinds of steps whose faults it ends on the same nodes, as ``start_broker`` ends ``kill_broker``."""
    about_clients: ClassVar[bool] = False
    """True if it acts on probes themselves, so that its effect shows without other working probes."""
    names: ClassVar[bool] = False
    """True if it changes the names that probes can resolve, which therefore need a private name service."""
    needs: ClassVar[RequiredMode | None] = None
    """The only cluster mode in which it makes sense, if there is one."""
    configured: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """Settings that every broker must have for it, by name."""
    harmless: ClassVar[bool] = False
    """True if all servers go on and can be reached, so that it counts against no limit."""

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: object) -> None:
        """Refuse a complete step that does not say whom it hits, since no limit would count its harm."""
        super().__pydantic_init_subclass__(**kwargs)
        field = cls.model_fields.get(_TARGET)
        if not isabstract(cls) and cls.targets is Step.targets and (field is None or field.annotation is not str):
            raise UsageError(f"{cls.__module__}: {cls.__name__} is not complete: define targets, or `target: str`")

    @classmethod
    def forms(cls) -> Mapping[str, type[Step]]:
        """Subclasses of the step with names of their own, by :attr:`plugin_name`."""
        return {}

    def recorded(self, site: Site) -> str:  # noqa: ARG002 - for those that override it
        """The name of the fault in events and verdicts; by default the name of the step."""
        return name_of(type(self))

    def targets(self) -> tuple[str, ...]:
        """The target expressions to resolve when the step fires; by default its field ``target``."""
        target: str = getattr(self, _TARGET)
        return (target,)

    def takes(self) -> frozenset[NodeKind]:
        """The kinds of nodes that its targets may name; empty if the step checks its targets elsewhere."""
        return frozenset()

    def aimed(self, site: Site) -> str:
        """Its targets in words: each node, unless the step distinguishes sides."""
        return ", ".join(map(str, site.nodes(*self.targets())))

    def changes(self, site: Site) -> Iterator[Settings]:  # noqa: ARG002 - for those that override it
        """The settings that it changes: their values are read when it fires, and are then in ``site.former``."""
        yield from ()

    def remakes(self) -> tuple[str, ...]:
        """The topics that it deletes and creates again; their shapes, read when it fires, are in ``site.topics``."""
        return ()

    def harm(self, site: Site) -> Iterator[Harm]:
        """The harm to the cluster, one value for each moment; by default all targets at once; none if it is harmless.

        Counted against the limits of :mod:`chaosk.planning.blast_radius`, together with other faults in place at that
        time.
        """
        if not self.harmless and (away := servers_of(site.inventory, site.nodes(*self.targets()))):
            yield Harm(away=away)

    def holds(self, site: Site) -> Iterator[str]:
        """The objects that it changes, in words; no two faults may share one. By default each of its targets."""
        for node in site.nodes(*self.targets()):
            yield f"{name_of(type(self))} of {node}"

    def down(self, site: Site) -> Iterator[str]:  # noqa: ARG002 - for those that override it
        """The hosts that it takes down as a whole: no answer is expected from them while it lasts."""
        yield from ()

    def refused(self, inventory: Inventory, host: str) -> str | None:  # noqa: ARG002 - for those that override it
        """Return the reason and remedy if the inventory rules it out on a host; None if it does not."""
        return None

    def suits(self, site: Site) -> Iterator[Fact]:  # noqa: ARG002 - for those that override it
        """Capabilities that hosts need, checked before the run on all possible targets, apart from :meth:`before`."""
        yield from ()

    def before(self, site: Site) -> Iterator[Fact]:
        """Preconditions without which the fault cannot take (a broker to be killed runs); by default :meth:`suits`."""
        yield from self.suits(site)

    @abstractmethod
    def inject(self, site: Site) -> Iterator[Deed]:
        """The actions, in order."""

    @abstractmethod
    def verify(self, site: Site) -> Iterator[Fact]:
        """The effect that must be seen after injecting, and again before undoing."""

    def watch(self, site: Site) -> Iterator[Fact]:
        """Facts that must hold in every check while the fault lasts; by default the verified ones cheap to check.

        A fact corresponds to the one of :meth:`verify` with the same words: its marks are compared with those seen
        then.
        """
        yield from (fact for fact in self.verify(site) if fact.still and fact.steady)

    def undo(self, site: Site) -> Iterator[Deed]:  # noqa: ARG002 - for those that override it
        """The actions that restore the cluster; safe to repeat, and safe after a partial injection."""
        yield from ()

    def healed(self, site: Site) -> Iterator[Fact]:  # noqa: ARG002 - for those that override it
        """The facts that must be seen after the undo."""
        yield from ()

    def tidy(self, site: Site) -> Iterator[Deed]:  # noqa: ARG002 - for those that override it
        """Clean-up after healing is verified: done by a run only, never by a host that heals itself."""
        yield from ()
