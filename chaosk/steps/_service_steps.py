"""Shared base of the steps that stop, kill, start, restart and pause servers, and their names for one role each.

The target names the role: ``stop: {target: zookeeper leader}`` stops a ZooKeeper node. ``stop_broker``,
``stop_controller`` and ``stop_zookeeper`` are the same step for targets of one role; likewise for the other four verbs.
"""

from __future__ import annotations

import re
from abc import ABC
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from inspect import getdoc
from typing import ClassVar

from pydantic import create_model

from chaosk.core.plugins import file_of
from chaosk.hosts.commands import service
from chaosk.spec.contracts.step import Deed, Fact, Site, Step
from chaosk.spec.contracts.target import NodeKind
from chaosk.spec.quorum import RequiredMode
from chaosk.steps._server import SOON, Role, Server, back, each, servers


@dataclass(frozen=True, slots=True)
class _RoleForm:
    """What distinguishes a verb for one role from the verb for all."""

    server: str
    """A server of the role in words."""
    example: str
    """A target that names one."""
    suffix: str
    """The end of the class's name."""
    says: str = ""
    """A further sentence of the description."""
    needs: RequiredMode | None = None
    """The only mode of a cluster that has such servers; its text contains ``{verb}``."""


ROLES: Mapping[Role, _RoleForm] = {
    "broker": _RoleForm("a broker", "broker 1", "Broker"),
    "controller": _RoleForm(
        "a KRaft controller", "controller 101", "Controller",
        "If the process is a broker as well, the broker is affected with it. ",
        RequiredMode("kraft", "the controller is a broker there: write {verb}_broker"),
    ),
    "zookeeper": _RoleForm(
        "a ZooKeeper node", "zookeeper 1", "ZooKeeper", needs=RequiredMode("zookeeper", "write {verb}_controller")
    ),
}  # fmt: skip

ANY_SERVER = "a broker, a controller or a ZooKeeper node"
"""A server of any role, in the descriptions of the verbs."""


def names_of(verb: str) -> tuple[str, ...]:
    """Return all names of a verb: ``stop``, ``stop_broker`` and so on."""
    return (verb, *(f"{verb}_{role}" for role in ROLES))


class ServiceStep(Step, ABC):
    """A step on the targeted processes, all of them at once."""

    role: ClassVar[Role | None] = None
    """The only role that its targets may have; None if they may have any."""

    target: str
    """The servers; a target that names several hits all of them."""

    @classmethod
    def forms(cls) -> Mapping[str, type[Step]]:
        """The verb for one role each."""
        return {f"{file_of(cls)}_{role}": _of_role(cls, role) for role in ROLES}

    def recorded(self, site: Site) -> str:
        """The verb with the role of its targets, like ``kill_broker``, whichever name the scenario uses.

        It is the verb alone if they are of several kinds.
        """
        roles = {self.role} if self.role else {node.kind for node in site.nodes(self.target)}
        return "_".join((file_of(type(self)), *(roles if len(roles) == 1 else ())))

    def takes(self) -> frozenset[NodeKind]:
        """Accept nodes of the step's role; a broker may be a controller as well."""
        if self.role is None:
            return frozenset(ROLES)
        return frozenset({"broker", "controller"} if self.role == "controller" else {self.role})

    def suits(self, site: Site) -> Iterator[Fact]:
        """Require that each process is the server of the inventory, before the run and when the step fires."""
        for server in self.servers(site):
            yield server.itself()

    def servers(self, site: Site) -> tuple[Server, ...]:
        """Return the targeted servers."""
        return servers(site, self.role, self.target)

    def holds(self, site: Site) -> Iterator[str]:
        """Yield the processes: another step must not freeze a process that this one stops."""
        for server in self.servers(site):
            yield f"the process of {server.name}"


def _of_role(verb: type[ServiceStep], role: Role) -> type[ServiceStep]:
    """Make the step of a verb for targets of one role."""
    word, form = file_of(verb), ROLES[role]
    says = getdoc(verb) or ""
    says = f"{says.replace(ANY_SERVER, form.server)}\n\n{form.says}`{word}` does the same and is preferred."
    narrow = create_model(word.capitalize() + form.suffix, __base__=verb, __module__=verb.__module__, __doc__=says)
    narrow.plugin_name = f"{word}_{role}"
    narrow.role = role
    narrow.needs = form.needs and RequiredMode(form.needs.mode, form.needs.instead.format(verb=word))
    example = verb.example.replace(f"{word}:", f"{narrow.plugin_name}:")
    narrow.example = re.sub(r'target: ("[^"]*"|[^,}]*)', f"target: {form.example}", example)
    return narrow


class TakeDown(ServiceStep, ABC):
    """A step that ends the process, until it is started again."""

    lasting: ClassVar[bool] = True
    patience: ClassVar[float]
    """Time-out in seconds until the process is gone."""

    def before(self, site: Site) -> Iterator[Fact]:
        """Require that the process runs, and that the step suits it."""
        yield from (server.running() for server in self.servers(site))
        yield from self.suits(site)

    def verify(self, site: Site) -> Iterator[Fact]:
        """Verify on the host that the process is gone without a successor, and that the cluster does not list it."""
        yield from (server.gone(self.patience) for server in self.servers(site))
        for server in self.servers(site):
            yield from server.away(SOON)

    def undo(self, site: Site) -> Iterator[Deed]:
        """Start the servers that do not run."""
        yield from each(self.servers(site), service.start)

    def healed(self, site: Site) -> Iterator[Fact]:
        """Verify that the server runs and serves."""
        yield from back(self.servers(site))
