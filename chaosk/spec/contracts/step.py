"""What a step is: a value that describes a fault; it neither connects nor waits.

For the nodes it is aimed at, a step yields *deeds* (what to do) and *facts* (what must then be seen). The engine in
``chaosk.run`` freezes them into a :class:`Fault`, writes that down, and only then acts:

    before -> [undo written down] -> inject -> verify -> ... -> verify again -> undo -> healed

A fault whose ``before`` or ``verify`` does not hold did not take, and the verdict is INCONCLUSIVE. Deeds, facts and
so whole faults are data (JSON), so the undo can be handed to whoever has to heal.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from chaosk.core.model import Model
from chaosk.spec.command import Command
from chaosk.spec.contracts.target import Node, NodeKind
from chaosk.spec.entity import Entity, Settings
from chaosk.spec.harm import Harm, servers_of
from chaosk.spec.inventory import Broker, Controller, Inventory, ZooKeeper
from chaosk.spec.quorum import Needs
from chaosk.spec.topic_shape import TopicShape


class Run(Model):
    """Deed: run a command on a host; it fails unless it exits with 0."""

    do: Literal["run"] = "run"
    command: Command
    heals: bool = False
    """Whether it heals, though it is a part of the injection: then it is done as an undo is, lease or no lease."""


class Elect(Model):
    """Deed: ask the controller to elect leaders of partitions."""

    do: Literal["elect"] = "elect"
    topic: str
    partitions: Annotated[tuple[int, ...], Field(strict=False)] | None = None
    """None for all of them."""
    election: Literal["preferred", "unclean"]


class Reassign(Model):
    """Deed: ask the controller to give partitions other replicas, or to stop doing so."""

    do: Literal["reassign"] = "reassign"
    topic: str
    partitions: Annotated[tuple[int, ...], Field(strict=False)] | None = None
    """None for all of them; to cancel, for those that are being reassigned."""
    replicas: Annotated[tuple[int, ...], Field(strict=False)] | None
    """Broker ids, the preferred leader first; None cancels."""


class Configure(Model):
    """Deed: ask the controller to set settings of a topic, or to remove what was set there."""

    do: Literal["configure"] = "configure"
    settings: Settings
    back: bool = False
    """Whether it puts back what was there before."""


class AddPartitions(Model):
    """Deed: ask the controller to give a topic more partitions."""

    do: Literal["add_partitions"] = "add_partitions"
    topic: str
    count: int
    """How many it has then."""


class DeleteTopic(Model):
    """Deed: delete a topic that chaosk made, and wait until no broker knows it any more."""

    do: Literal["delete_topic"] = "delete_topic"
    topic: str
    identity: str
    """Its id, so that nothing happens to another one of that name."""


class MakeTopic(Model):
    """Deed: make a topic that was deleted as it was, and wait until every leader serves it."""

    do: Literal["make_topic"] = "make_topic"
    shape: TopicShape
    back: bool = False
    """Whether it is the undo: then one that is there, whoever made it, is left alone."""


Operation = Elect | Reassign | Configure | AddPartitions | DeleteTopic | MakeTopic
"""What the controller is asked to do."""


class Signal(Model):
    """Deed: start a probe again, end it cleanly, kill it, freeze it, or let it go on."""

    do: Literal["signal"] = "signal"
    probe: str
    action: Literal["start", "stop", "kill", "pause", "resume"]


class Names(Model):
    """Deed: have probes told that there are no names, or nothing at all, that some lead elsewhere, or what is so."""

    do: Literal["names"] = "names"
    action: Literal["refuse", "silence", "move", "restore"]
    names: Annotated[tuple[str, ...], Field(strict=False)] = ()
    """Those to move."""
    to: str | None = None
    """The address to which they lead then."""


class Pause(Model):
    """Deed: let time pass."""

    do: Literal["pause"] = "pause"
    seconds: float


class Look(Model):
    """Deed: write down how the cluster is."""

    do: Literal["look"] = "look"
    entry: str
    """What the report calls it."""


class Fact(Model):
    """What must be seen: a command that exits with 0, or a condition that holds, within a time.

    As a deed it is waited for, and its absence fails the step.
    """

    do: Literal["await"] = "await"
    says: str
    """In words, like ``broker 2 is gone``."""
    query: Command | Settings | str
    """A command (its output is the evidence), settings that are so, or a condition as text, like ``broker_up(2)``."""
    within: float = 0.0
    """Seconds to keep asking; 0 asks once."""
    doubt: float | None = None
    """Seconds after which a no is believed, where who cannot answer is asked for longer; None: as long as them."""
    still: bool = True
    """Whether, as an effect, it must be seen once more before the undo: not what may end by itself, rightly."""
    steady: bool = True
    """Whether, as an effect, it is asked again and again while the fault lasts. Not what is dear to ask, what touches
    anything, what wavers under load, and what a broker that is cut off from its peers would answer wrongly."""
    last: bool = False
    """Whether, as an effect, it is asked before the undo alone: what is to have come about by then."""
    remedy: str | None = None
    """What to do where it did not last."""


Deed = Annotated[
    Run | Elect | Reassign | Configure | AddPartitions | DeleteTopic | MakeTopic | Signal | Names | Pause | Look | Fact,
    Field(discriminator="do"),
]


class Fault(Model):
    """One fault, ready to be injected and undone: data, nothing symbolic left."""

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
    """What it takes from the cluster, moment by moment; empty if nothing."""
    holds: Annotated[tuple[str, ...], Field(strict=False)] = ()
    """What it changes, like ``the process of broker 1``: two faults that hold the same contradict each other."""
    tidy: Annotated[tuple[Deed, ...], Field(strict=False)] = ()
    """What a run does last, once it is seen healed; nobody needs it to heal."""
    watch: Annotated[tuple[Fact, ...], Field(strict=False)] = ()
    """What is asked again and again while it is in place; each once, and never waited for."""
    aimed: str = ""
    """Whom it is done to, in words; empty in what was stored before there were any."""
    down: Annotated[tuple[str, ...], Field(strict=False)] = ()
    """Hosts that it takes down as a whole, and that come back from another boot."""

    @property
    def whom(self) -> str:
        """Whom it is done to, in words."""
        return self.aimed or ", ".join(map(str, self.targets))


@dataclass(frozen=True, slots=True)
class Site:
    """Where a step acts: the inventory and the nodes its targets were resolved to."""

    inventory: Inventory
    run_id: str
    """``[A-Za-z0-9._-]``, tags everything that is left on a host."""
    entry: str
    """Name of the timeline entry, unique in the run."""
    aims: Mapping[str, tuple[Node, ...]]
    """By target expression, as written, the nodes it named when the step fired."""
    boot_id: str = ""
    """Of the machine that chaosk runs on: no step may boot that one."""
    former: Mapping[Entity, Mapping[str, str]] = field(default_factory=dict)
    """What was set when the step fired, of what it :meth:`Step.changes`; empty where no cluster was asked."""

    topics: Mapping[str, TopicShape] = field(default_factory=dict)
    """By name the topics that it :meth:`Step.remakes`, as they were then; empty where no cluster was asked."""

    def former_of(self, settings: Settings) -> Settings:
        """The same settings as they were when the step fired."""
        former = self.former.get(settings.of, {})
        return Settings(of=settings.of, values={name: former.get(name) for name in settings.values})

    def nodes(self, *targets: str) -> tuple[Node, ...]:
        """The nodes of one or more target expressions, in order, each once."""
        return tuple(dict.fromkeys(node for target in targets for node in self.aims[target]))

    def broker(self, node: Node) -> Broker:
        """The inventory's entry of a broker node."""
        return self.inventory.brokers[int(node.id)]

    def controller(self, node: Node) -> Broker | Controller:
        """The inventory's entry of a KRaft controller, a broker's where it is one as well."""
        return self.inventory.voters()[int(node.id)]

    def zookeeper(self, node: Node) -> ZooKeeper:
        """The inventory's entry of a ZooKeeper node."""
        return self.inventory.zookeepers[int(node.id)]


class Step(Model, ABC):
    """One kind of timeline entry. Its YAML name is its file name, its YAML keys are its fields."""

    example: ClassVar[str]
    """A timeline entry in YAML that can be copied."""
    lasting: ClassVar[bool]
    """Whether it leaves something to undo, so that ``for`` makes sense."""
    ends: ClassVar[tuple[str, ...]] = ()
    """Kinds of step whose faults it ends when it hits the same nodes, as ``start_broker`` ends ``kill_broker``."""
    about_clients: ClassVar[bool] = False
    """Whether it is done to probes themselves: then nobody else has to be at work for it to show something."""
    names: ClassVar[bool] = False
    """Whether it changes what names probes know, so that they have to have their own."""
    needs: ClassVar[Needs | None] = None
    """The mode of clusters that it is for, if not for any."""
    configured: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """By name the settings that every broker must have for it."""

    @abstractmethod
    def targets(self) -> tuple[str, ...]:
        """The target expressions to resolve when the step fires."""

    def takes(self) -> frozenset[NodeKind]:
        """The kinds of nodes that its targets may name; none where it refuses what it cannot be done to by itself."""
        return frozenset()

    def aimed(self, site: Site) -> str:
        """Whom it is done to, in words: each node, unless the step says who is on which side."""
        return ", ".join(map(str, site.nodes(*self.targets())))

    def changes(self, site: Site) -> Iterator[Settings]:  # noqa: ARG002 - for those that override it
        """The settings that it changes: what they were is asked when it fires, and is in ``site.former`` from then."""
        yield from ()

    def remakes(self) -> tuple[str, ...]:
        """The topics that it deletes and makes again: how they are is asked when it fires, and in ``site.topics``."""
        return ()

    def harm(self, site: Site) -> Iterator[Harm]:
        """What it takes from the cluster, one value for each moment; unless it says otherwise all it aims at, at once.

        Counted against the limits of :mod:`chaosk.planning.blast_radius`, together with what else is in place then.
        """
        if away := servers_of(site.inventory, site.nodes(*self.targets())):
            yield Harm(away=away)

    def holds(self, site: Site) -> Iterator[str]:
        """What it changes, in words: no two faults may hold the same at a time. By default each of its targets."""
        for node in site.nodes(*self.targets()):
            yield f"{type(self).__module__.rpartition('.')[2]} of {node}"

    def down(self, site: Site) -> Iterator[str]:  # noqa: ARG002 - for those that override it
        """The hosts that it takes down as a whole: nobody expects an answer of them while it lasts."""
        yield from ()

    def refused(self, inventory: Inventory, host: str) -> str | None:  # noqa: ARG002 - for those that override it
        """Why it cannot be done to a host, and what to do, as far as the inventory tells; None if it can."""
        return None

    def suits(self, site: Site) -> Iterator[Fact]:  # noqa: ARG002 - for those that override it
        """What hosts must be able to do, asked before the run of all that may be aimed at, beside :meth:`before`."""
        yield from ()

    def before(self, site: Site) -> Iterator[Fact]:  # noqa: ARG002 - for those that override it
        """What must hold before, or the fault cannot take (a broker that is to be killed runs)."""
        yield from ()

    @abstractmethod
    def inject(self, site: Site) -> Iterator[Deed]:
        """What to do, in order."""

    @abstractmethod
    def verify(self, site: Site) -> Iterator[Fact]:
        """The effect that must be seen after injecting, and still before undoing."""

    def watch(self, site: Site) -> Iterator[Fact]:
        """What must hold at every look while the fault lasts; by default what was verified, if it can be asked often.

        A fact stands for the one of :meth:`verify` that says the same: its marks are compared with those seen then.
        """
        yield from (fact for fact in self.verify(site) if fact.still and fact.steady)

    def undo(self, site: Site) -> Iterator[Deed]:  # noqa: ARG002 - for those that override it
        """What puts the cluster back; safe to do twice, and when the injection got only half way."""
        yield from ()

    def healed(self, site: Site) -> Iterator[Fact]:  # noqa: ARG002 - for those that override it
        """What must be seen once it is undone."""
        yield from ()

    def tidy(self, site: Site) -> Iterator[Deed]:  # noqa: ARG002 - for those that override it
        """What is cleared away once it is seen healed: by a run alone, never by a host that heals itself."""
        yield from ()
