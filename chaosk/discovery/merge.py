"""Findings of all sources into one draft: a value for each place, or a question. Pure.

Sources come in the order in which they are believed: what a process has open and its command line, what the cluster
answers, then files. A question stands only where no source has a value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from chaosk.discovery.findings import Findings, Learned, Place, QuorumMember, Remark, Unlearned

SERVER_BLOCKS = ("brokers", "controllers", "zookeepers")
_WHOLE = ("service", "listeners")
"""Blocks of a server that are taken from one source as a whole."""
_DEFAULT_PORTS = {"controllers": ("port", 9093), "zookeepers": ("client_port", 2181)}
_UNIT = "write systemd: UNIT, or start, stop and pid_file"


@dataclass(frozen=True, slots=True)
class InventoryDraft:
    """An inventory to be written."""

    facts: Mapping[Place, Learned]
    questions: Mapping[Place, Unlearned]
    remarks: tuple[Remark, ...] = ()

    def servers(self) -> tuple[Place, ...]:
        """Return the places of all servers."""
        return _servers((*self.facts, *self.questions))


@dataclass(slots=True)
class _Board:
    """What is decided so far."""

    facts: dict[Place, Learned] = field(default_factory=dict)
    questions: dict[Place, Unlearned] = field(default_factory=dict)

    def has(self, place: Place) -> bool:
        return any(other[: len(place)] == place for other in self.facts)

    def learn(self, fact: Learned) -> None:
        self.facts.setdefault(fact.place, fact)

    def ask(self, place: Place, asks: str) -> None:
        """Put a question, unless there is a value or another question at its place, below or above."""
        above = (place[:length] for length in range(2, len(place) + 1))
        if not self.has(place) and not any(higher in self.questions for higher in above):
            self.questions[place] = Unlearned(place, asks)


def merge(
    findings: Sequence[Findings], hosts: Mapping[str, str], unasked: Mapping[str, str], *, all_brokers: bool
) -> InventoryDraft:
    """Decide between the findings.

    ``hosts``: the host's name in the inventory by address; ``unasked``: the reason by host that was not asked;
    ``all_brokers``: True if the cluster itself has named its brokers, so that no other server is one.
    """
    board = _Board()
    for fact in _believed(findings):
        board.learn(fact)
    addresses = _addresses(findings)
    _seat_voters(board, [seat for one in findings for seat in one.voters], addresses, all_brokers=all_brokers)
    for one in findings:
        for open_question in one.questions:
            board.ask(open_question.place, open_question.asks)
    _seat_keepers(board, [seat for one in findings for seat in one.keepers], addresses, hosts)
    for server in _servers((*board.facts, *board.questions)):
        if server not in board.questions:
            _complete(board, server, addresses.get(server, ()), hosts, unasked)
    _drop_unused_hosts(board, findings, addresses, hosts)
    remarks = tuple(dict.fromkeys(remark for one in findings for remark in one.remarks))
    return InventoryDraft(board.facts, board.questions, (*remarks, *_versions(findings)))


def _believed(findings: Sequence[Findings]) -> Iterator[Learned]:
    """Yield the facts, the most believed first; whole blocks of a server from one source only."""
    whole: dict[Place, Findings] = {}
    for inferred in (False, True):
        for one in findings:
            for fact in one.facts:
                if fact.inferred != inferred:
                    continue
                block = fact.place[:3]
                whole_block = len(block) == 3 and block[0] in SERVER_BLOCKS and block[2] in _WHOLE
                if whole_block and whole.setdefault(block, one) is not one:
                    continue
                yield fact


def _addresses(findings: Sequence[Findings]) -> dict[Place, tuple[str, ...]]:
    every: dict[Place, tuple[str, ...]] = {}
    for one in findings:
        for server, own in one.addresses.items():
            every[server] = tuple(dict.fromkeys((*every.get(server, ()), *own)))
    return every


def _seat_voters(
    board: _Board, seats: Sequence[QuorumMember], addresses: dict[Place, tuple[str, ...]], *, all_brokers: bool
) -> None:
    """Add controllers: to the broker with this id, or as servers of their own."""
    combined = any(board.has(("brokers", str(seat.number))) for seat in seats)
    known = {server[1] for server in _servers(board.facts)}
    for seat in seats:
        number = str(seat.number)
        broker, controller = ("brokers", number), ("controllers", number)
        if board.has(broker):
            _combine(board, broker, seat)
        elif board.has(controller) or all_brokers or not combined:
            board.learn(Learned((*controller, "port"), seat.port, seat.source))
            addresses[controller] = tuple(dict.fromkeys((*addresses.get(controller, ()), seat.address)))
        elif number not in known:
            board.ask(
                controller,
                f"{seat.address}:{seat.port} is a voter of the quorum ({seat.source}), and whether it is a broker as "
                "well is not known; name its server.properties, too, or ask the cluster with --bootstrap",
            )


def _combine(board: _Board, broker: Place, seat: QuorumMember) -> None:
    named = board.facts.get((*broker, "controller_listener"))
    name = str(named.value) if named is not None else seat.listener or _at_port(board, broker, seat.port)
    board.learn(Learned((*broker, "controller_listener"), name, seat.source))
    listener = (*broker, "listeners", name)
    board.learn(Learned((*listener, "address"), seat.address, seat.source))
    board.learn(Learned((*listener, "port"), seat.port, seat.source))
    board.learn(Learned((*listener, "clients"), value=False, source="the controller's listener"))


def _at_port(board: _Board, broker: Place, port: int) -> str:
    """Return the listener of a broker on a port, or Kafka's usual name for that of a controller."""
    block = (*broker, "listeners")
    ports = (fact for place, fact in board.facts.items() if place[:3] == block and place[4:] == ("port",))
    return next((fact.place[3] for fact in ports if fact.value == port), "CONTROLLER")


def _seat_keepers(
    board: _Board, seats: Sequence[QuorumMember], addresses: Mapping[Place, tuple[str, ...]], hosts: Mapping[str, str]
) -> None:
    """Ask for ZooKeeper nodes that brokers name, and no other source does."""
    present = {
        place for server in _servers(board.facts) if server[0] == "zookeepers"
        for place in (*addresses.get(server, ()), _host(board, server, addresses.get(server, ()), hosts))
    }  # fmt: skip
    number = 0
    for seat in dict.fromkeys(seats):
        if seat.address in present or hosts.get(seat.address) in present:
            continue
        present.add(seat.address)
        number += 1
        while board.has(("zookeepers", str(number))) or ("zookeepers", str(number)) in board.questions:
            number += 1
        board.ask(
            ("zookeepers", str(number)),
            f"ZooKeeper at {seat.address}:{seat.port} ({seat.source}): neither its id (myid) nor its service is known; "
            "ask its host with --ssh, or name its zoo.cfg with --properties",
        )


def _complete(
    board: _Board, server: Place, addresses: tuple[str, ...], hosts: Mapping[str, str], unasked: Mapping[str, str]
) -> None:
    """Add what follows for a server, and ask for what it needs."""
    host = _host(board, server, addresses, hosts)
    if host is not None and addresses:
        board.learn(Learned((*server, "host"), host, f"at {addresses[0]}"))
    board.ask((*server, "host"), f"on which host does it run? Its addresses are {', '.join(addresses) or 'not known'}")
    _complete_listeners(board, server, host)
    why = "no process of it was seen" + (f" on {host}" if host is not None else "")
    if host is not None and host in unasked:
        why = f"{host} was not asked: {unasked[host]}"
    place = (*server, "service")
    if (*place, "pid_file") in board.facts:
        for key, word in (("start", "starts"), ("stop", "stops")):
            board.ask(
                (*place, key),
                f"which command {word} it? No program names its pid file; write [COMMAND, ARGUMENT, ...]",
            )
    board.ask(place, f"how is it started and stopped? {why}; {_UNIT}")
    if server[0] in _DEFAULT_PORTS:
        key, port = _DEFAULT_PORTS[server[0]]
        fact = board.facts.get((*server, key))
        if fact is not None and fact.value == port:
            del board.facts[fact.place]


def _drop_unused_hosts(
    board: _Board, findings: Sequence[Findings], addresses: Mapping[Place, tuple[str, ...]], hosts: Mapping[str, str]
) -> None:
    """Remove hosts that are only an address of servers that were found to run elsewhere, like that of a proxy."""
    used = {fact.value for place, fact in board.facts.items() if place[2:] == ("host",)}
    open_places = [server for server in _servers(board.questions) if server in board.questions]
    used |= {hosts.get(address, "") for server in open_places for address in addresses.get(server, ())}
    used |= {hosts.get(seat.address, "") for one in findings for seat in (*one.voters, *one.keepers)}
    elsewhere = {hosts[address] for own in addresses.values() for address in own if address in hosts} - used
    for place in [place for place in board.facts if place[0] == "hosts" and place[1] in elsewhere]:
        del board.facts[place]


def _complete_listeners(board: _Board, server: Place, host: str | None) -> None:
    if server[0] != "brokers":
        return
    block = (*server, "listeners")
    board.ask(block, "no source has its listeners; write NAME: {address: ..., port: ...} as in advertised.listeners")
    for place in [one for one in board.facts if one[:3] == block and one[4:] == ("port",)]:
        at = board.facts.get(("hosts", host or "", "address"))
        if at is not None:
            board.learn(Learned((*place[:4], "address"), at.value, "its host's address, since it listens on any"))
        board.ask((*place[:4], "address"), "at which address does this listener answer? It names none itself")


def _host(board: _Board, server: Place, addresses: tuple[str, ...], hosts: Mapping[str, str]) -> str | None:
    fact = board.facts.get((*server, "host"))
    if fact is not None:
        return str(fact.value)
    return next((hosts[address] for address in addresses if address in hosts), None)


def _servers(places: Iterable[Place]) -> tuple[Place, ...]:
    return tuple(dict.fromkeys(place[:2] for place in places if len(place) >= 2 and place[0] in SERVER_BLOCKS))


def _versions(findings: Sequence[Findings]) -> Iterator[Remark]:
    """Remark on several versions of Kafka in one cluster."""
    every = {fact.value for one in findings for fact in one.facts if fact.place == ("kafka", "version")}
    if len(every) > 1:
        yield Remark(("kafka",), f"the servers run several versions: {', '.join(sorted(map(str, every)))}")
