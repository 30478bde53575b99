"""Ask all sources about a cluster, and merge what they say into a draft of its inventory."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from chaosk.cluster.security import security
from chaosk.core.errors import ChaoskError, UsageError
from chaosk.core.parallel import parallel_map
from chaosk.discovery.ansible_findings import AnsibleFindings, ansible_findings
from chaosk.discovery.client_properties import ClientTranslation
from chaosk.discovery.cluster_description import describe
from chaosk.discovery.cluster_findings import cluster_findings
from chaosk.discovery.findings import Findings, Learned, Value
from chaosk.discovery.host_description import HostDescription, read
from chaosk.discovery.host_findings import HostFindings
from chaosk.discovery.host_findings import host_findings as process_findings
from chaosk.discovery.machines import DiscoveredMachine, host_findings, machine_at, name_all
from chaosk.discovery.merge import InventoryDraft, merge
from chaosk.discovery.properties_files import properties_findings
from chaosk.discovery.ssh_access import ADDRESS, SshAccess
from chaosk.document.ssh_configs import configured_host
from chaosk.hosts.commands.looks import describe as describe_host
from chaosk.hosts.transport.ssh import Ssh
from chaosk.spec.inventory import Host

_ROUNDS = 4
"""Rounds of asking hosts: each may name servers on others."""


@dataclass(frozen=True, slots=True)
class Search:
    """What to ask."""

    bootstrap: tuple[tuple[str, int], ...] = ()
    client: ClientTranslation = field(default_factory=ClientTranslation)
    secured: bool = False
    """True if the settings of clients are given."""
    properties: tuple[Path, ...] = ()
    ansible: Path | None = None
    ssh: SshAccess | None = None
    """How hosts are reached; None to leave them alone."""
    known: Mapping[str, Host] = field(default_factory=dict)
    """Hosts of an inventory that is there, by name."""
    name: str | None = None
    network_namespace: str | None = None


def search(asked: Search, say: Callable[[str], None]) -> InventoryDraft:
    """Ask all sources; raises UsageError for unusable files, and PreflightError if the cluster does not answer."""
    listed = ansible_findings(asked.ansible, secured=asked.secured) if asked.ansible is not None else None
    files = [*properties_findings(asked.properties, secured=asked.secured)]
    files += listed.findings if listed is not None else ()
    machines = [_known(name, host) for name, host in asked.known.items()]
    machines += [
        DiscoveredMachine(
            names=[host.name, host.address], settings=dict(host.settings), name=host.name.lower(), fixed=True
        )
        for host in (listed.hosts if listed is not None else ())
    ]
    cluster = None
    if asked.bootstrap:
        say(f"asking the cluster at {', '.join(f'{host}:{port}' for host, port in asked.bootstrap)}")
        cluster = describe(asked.bootstrap, security(asked.client.require()))
        say(f"{len(cluster.brokers)} brokers")
    answers = [] if cluster is None else [*cluster_findings(cluster)]
    machines, wanted = _visited(machines, _addresses([*answers, *files]), asked.ssh, say)
    said = _said(machines)
    findings = [*(one for each in said for one in each.processes), *answers, asked.client.findings]
    findings += [*(one for each in said for one in each.files), *files]
    findings += _presumed(listed, machines, findings) if listed is not None else ()
    for machine in machines:
        if machine.settings.get("address", (machine.names[0], ADDRESS)) == (machine.names[0], ADDRESS):
            machine.settings["address"] = (machine.names[0], f"of {_named(findings, machine)}")
    findings = [_head(asked, cluster.cluster_id if cluster is not None else ""), host_findings(machines), *findings]
    every = (*wanted, *_addresses(findings))
    hosts = {one: at.name for one in every if (at := machine_at(machines, (one, *_resolved(one)))) is not None}
    unasked = {
        machine.name: machine.why_not or "name --ssh USER@ to ask the hosts"
        for machine in machines
        if machine.said is None
    }
    return merge(findings, hosts, unasked, all_brokers=cluster is not None)


def _visited(
    machines: list[DiscoveredMachine], wanted: tuple[str, ...], ssh: SshAccess | None, say: Callable[[str], None]
) -> tuple[list[DiscoveredMachine], tuple[str, ...]]:
    """Ask the machines at these addresses, and those that they name; return the machines, and all addresses."""
    if ssh is not None:
        wanted = (*ssh.hosts(), *wanted)
    for _ in range(_ROUNDS):
        fresh = _place(machines, wanted)
        if ssh is not None:
            _visit([one for one in machines if one.said is None and one.why_not is None], ssh, say)
        name_all(machines)
        more = _addresses([one for said in _said(machines) for one in said.files])
        if ssh is None or not (fresh or set(more) - set(wanted)):
            break
        wanted = tuple(dict.fromkeys((*wanted, *more)))
    return _together(machines), wanted


def _head(asked: Search, cluster_id: str) -> Findings:
    name, source = asked.name, "--name"
    if name is None:
        kept = "".join(sign for sign in cluster_id.lower() if sign.isalnum())[:8]
        name, source = (
            (f"kafka-{kept}", "from the cluster's id; --name NAME gives another")
            if kept
            else ("kafka", "--name NAME gives another")
        )
    facts = [Learned(("name",), name, source)]
    if asked.network_namespace is not None:
        facts.append(Learned(("network_namespace",), asked.network_namespace, "--network-namespace"))
    return Findings(facts=tuple(facts))


def _known(name: str, host: Host) -> DiscoveredMachine:
    settings: dict[str, tuple[Value, str]] = {
        key: (value, "the inventory")
        for key, value in host.model_dump(exclude_unset=True).items()
        if key in {"address", "port", "user", "key_file", "known_hosts", "sudo", "gate"}
    }
    for key, value in (("ssh.config", host.ssh.config), ("ssh.name", host.ssh.name)):
        settings |= {} if value is None else {key: (value, "the inventory")}
    return DiscoveredMachine(
        names=[host.address], settings=settings, network={*_resolved(host.address)}, name=name, fixed=True
    )


def _addresses(findings: Iterable[Findings]) -> tuple[str, ...]:
    """Return every address that the findings name, each once."""
    return tuple(
        dict.fromkeys(
            address for one in findings
            for address in (
                *(each for own in one.addresses.values() for each in own),
                *(seat.address for seat in (*one.voters, *one.keepers)),
            )
        )
    )  # fmt: skip


def _place(machines: list[DiscoveredMachine], addresses: Iterable[str]) -> bool:
    """Give each address a machine; return True if there are new ones."""
    fresh = False
    for address in addresses:
        network = {*_resolved(address)}
        machine = machine_at(machines, (address, *network))
        if machine is None:
            machines.append(DiscoveredMachine(names=[address], network=network))
            fresh = True
        elif address not in machine.names:
            machine.names.append(address)
            machine.network |= network
    return fresh


def _resolved(address: str) -> tuple[str, ...]:
    """Return the network addresses of a name; empty if it has none, or only this machine's own."""
    try:
        found = {str(one[4][0]) for one in socket.getaddrinfo(address, None, type=socket.SOCK_STREAM)}
    except OSError:
        return ()
    return tuple(sorted(one for one in found if not one.startswith("127.") and one != "::1"))


def _visit(machines: Sequence[DiscoveredMachine], access: SshAccess, say: Callable[[str], None]) -> None:
    """Ask machines over SSH, all at the same time."""
    hosts: dict[str, Host] = {}
    for machine in machines:
        offered = access.settings(machine.names[0])
        options = {key: value for key, value in offered.items() if value[1].startswith("--")}
        machine.settings = {**offered, **machine.settings, **options}
        try:
            hosts[machine.names[0]], _ = configured_host(_host(machine.settings))
        except ValidationError as error:
            raise UsageError(f"{machine.names[0]}: {error.errors()[0]['msg']}; name another login with --ssh") from None
    if not hosts:
        return
    say(f"asking {len(hosts)} hosts over SSH: {', '.join(hosts)}")
    transport = Ssh(hosts)
    try:
        answers = parallel_map(lambda machine: _describe(transport, machine.names[0], hosts), machines)
    finally:
        transport.close()
    for machine, answer in zip(machines, answers, strict=True):
        if isinstance(answer, str):
            machine.why_not = answer
            say(f"{machine.names[0]}: {answer}")
        else:
            machine.said = answer
            if answer.as_root and hosts[machine.names[0]].user == "root":
                machine.settings["sudo"] = (False, "root itself logs in")


def _host(settings: Mapping[str, tuple[Value, str]]) -> Host:
    """Return a host with these keys; raises ValidationError."""
    values: dict[str, object] = {}
    ssh: dict[str, object] = {}
    for key, (value, _) in settings.items():
        (ssh if key.startswith("ssh.") else values)[key.removeprefix("ssh.")] = value
    return Host.model_validate({**values, "ssh": ssh})


def _describe(transport: Ssh, key: str, hosts: Mapping[str, Host]) -> HostDescription | str:
    """Return what a host says, as root if it lets; or the reason why it says nothing."""
    host = hosts[key]
    try:
        if host.user == "root":
            return read(key, transport.run(describe_host(key, as_root=False)).stdout)
        result = transport.run(describe_host(key))
        if not result.stdout.startswith("uid 0"):
            result = transport.run(describe_host(key, as_root=False))
        return read(key, result.stdout)
    except ChaoskError as error:
        return str(error).removeprefix(f"{key}: ")


def _said(machines: Sequence[DiscoveredMachine]) -> tuple[HostFindings, ...]:
    return tuple(
        process_findings(machine.name, machine.names[0], machine.said)
        for machine in machines
        if machine.said is not None
    )


def _presumed(
    listed: AnsibleFindings, machines: Sequence[DiscoveredMachine], findings: Sequence[Findings]
) -> Iterator[Findings]:
    """Yield what is presumed of servers that neither their hosts nor the cluster have told the id of."""
    for server in listed.presumed:
        machine = machine_at(machines, (server.host.name, server.host.address))
        told = {
            place[0]
            for one in findings
            for place, own in one.addresses.items()
            if machine is not None and machine.answers_to(own)
        } | {
            fact.place[0]
            for one in findings
            for fact in one.facts
            if machine is not None and fact.place[2:] == ("host",) and fact.value == machine.name
        }
        if server.role not in told:
            yield server.findings


def _named(findings: Sequence[Findings], machine: DiscoveredMachine) -> str:
    """Return the servers that are at a machine, in words."""
    kinds = {"brokers": "broker", "controllers": "controller", "zookeepers": "ZooKeeper"}
    at = {
        f"{kinds[place[0]]} {place[1]}"
        for one in findings
        for place, own in one.addresses.items()
        if machine.answers_to(own)
    }
    at |= {f"controller {seat.number}" for one in findings for seat in one.voters if machine.answers_to([seat.address])}
    at |= {"ZooKeeper" for one in findings for seat in one.keepers if machine.answers_to([seat.address])}
    at -= {"ZooKeeper"} if any(name.startswith("ZooKeeper ") for name in at) else set()
    return ", ".join(sorted(at)) or "a server of the cluster"


def _together(machines: Sequence[DiscoveredMachine]) -> list[DiscoveredMachine]:
    """Return the machines without those that turned out to be another one under a second address."""
    kept: list[DiscoveredMachine] = []
    for machine in machines:
        own = machine.said.addresses if machine.said is not None else machine.network
        twin = machine_at(kept, (*machine.names, *own))
        if twin is None:
            kept.append(machine)
        else:
            twin.names += machine.names
            twin.network |= machine.network
    return kept
