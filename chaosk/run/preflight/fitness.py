"""Findings from a host's facts: programs, packet filter, timer, services, free space. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from chaosk.run.preflight.diagnostic import Diagnostic, bad, ok, unknown, warning
from chaosk.run.preflight.facts import CHANCE, LEASES, CapabilityTest, DiskSpace, HostFacts
from chaosk.run.preflight.host_requirements import PACKAGES, HostRequirements

LEASE_ROOM = 1024
"""Minimum free KiB for leases on a host: one takes a few dozen."""
_PROOF = {"iptables": "iptables -S INPUT", "nftables": "nft list tables"}
_KERNEL = {
    "netem": "tc netem", "htb": "tc htb", "timeouts": "nft sets with timeouts", "numgen": "nft numgen",
    "statistic": "iptables -m statistic",
}  # fmt: skip
_MODULE = {"numgen": "nft_numgen", "statistic": "xt_statistic"}
_WITHOUT = {
    "netem": " (so no delay_network, duplicate_packets, reorder_packets)",
    "htb": " (so no limit_bandwidth, and nothing by netem)",
    "numgen": " (so no lose_packets)",
    "statistic": " (so no lose_packets)",
}
SCARCE = 0.05
"""Minimum free fraction of a file system with a server's data."""


def fitness(host: str, facts: HostFacts, needs: HostRequirements, firewall: str = "auto") -> Iterator[Diagnostic]:
    """Yield the findings of a host on which chaosk is root; ``firewall`` is the inventory's choice for it."""
    yield _tools(host, facts, needs)
    if needs.cuts:
        yield _filter(host, facts, firewall)
    yield _timer(host, facts)
    yield from _services(host, facts)
    yield from _rooms(host, facts)
    yield from _kernel(host, facts, needs, _draws(facts, firewall))


def _tools(host: str, facts: HostFacts, needs: HostRequirements) -> Diagnostic:
    missing = [name for name in needs.tools if not facts.tools.get(name, False)]
    if missing:
        packages = sorted({PACKAGES.get(name, name) for name in missing})
        return bad(host, "tools", f"there is no {', '.join(missing)}", f"install on Debian: {' '.join(packages)}")
    return ok(host, "tools", f"all {len(needs.tools)} that are needed")


def _filter(host: str, facts: HostFacts, firewall: str) -> Diagnostic:
    nft, four, six = (facts.filters.get(name, CapabilityTest(works=False)) for name in ("nft", "iptables", "ip6tables"))
    usable = {"nft": [nft], "iptables": [four]}.get(firewall, [nft, four])
    if not any(one.works for one in usable):
        return _no_filter(host, usable, "nft or iptables" if firewall == "auto" else firewall)
    if nft.works and firewall != "iptables":
        return ok(host, "packet filter", "nft: the kernel ends a cut when its lease expires")
    seen = f"iptables ({four.flavour})" + ("" if six.works else ", without IPv6")
    return warning(
        host, "packet filter", seen,
        "use nft (nftables on Debian): by iptables a cut stays if the host's own timer is killed, until `chaosk heal`",
    )  # fmt: skip


def _no_filter(host: str, tried: list[CapabilityTest], wanted: str) -> Diagnostic:
    reasons = "; ".join(one.why for one in tried if one.why)
    package = "iptables" if wanted == "iptables" else "nftables"
    return bad(
        host, "packet filter", f"{wanted} does not work here" + (f" ({reasons})" if reasons else ""),
        f"install on Debian: {package}; as root it must answer to `{_PROOF[package]}`",
    )  # fmt: skip


def _timer(host: str, facts: HostFacts) -> Diagnostic:
    if facts.timer == "systemd" and not facts.tools.get("systemd-run", False):
        return bad(host, "lease timer", "systemd runs here, but there is no systemd-run", "install on Debian: systemd")
    how = "systemd-run, started again if it is killed" if facts.timer == "systemd" else "its own session (setsid)"
    return ok(host, "lease timer", how)


def _services(host: str, facts: HostFacts) -> Iterator[Diagnostic]:
    for unit, state in facts.units.items():
        if state == "loaded":
            yield ok(host, "service", f"{unit} is loaded{_again(facts.restarts.get(unit, 'no'))}")
        else:
            yield bad(
                host, "service", f"systemd has not loaded {unit} ({state})", "correct its service in the inventory"
            )
    for name, whose in facts.programs.items():
        match whose:
            case "no":
                yield bad(host, "service", f"there is no program {name}", "correct the service in the inventory")
            case "shared":
                yield bad(
                    host, "service", f"{name} is root's, and another account can replace it: root does not run it",
                    "make its folders root's alone, or give the file to the account that the server runs as",
                )  # fmt: skip
            case _:
                yield ok(host, "service", f"{name} is there, and run as {whose}")


def _again(said: str) -> str:
    """Explain the effect of a unit's Restart= on faults that end its process."""
    how, _, after = said.partition(" ")
    if how == "no":
        return ""
    held = "kill_ steps keep systemd from it while they last, or leave it to it with `restart: supervised`"
    return f"; Restart={how}, RestartSec={after}: {held}"


def _rooms(host: str, facts: HostFacts) -> Iterator[Diagnostic]:
    for path, space in facts.space.items():
        if path == LEASES:
            yield _lease_room(host, space)
        else:
            yield _data_room(host, path, space)


def _lease_room(host: str, space: DiskSpace) -> Diagnostic:
    todo = f"free at least {LEASE_ROOM} KiB there: without it no fault is injected"
    if not space.writable:
        return bad(host, "room for leases", f"{LEASES} cannot be written, even by root", "see that it is not read-only")
    if space.free < LEASE_ROOM:
        return bad(host, "room for leases", f"{LEASES} has {space.free} KiB free", todo)
    return ok(host, "room for leases", f"{LEASES} has {_spell(space.free)} free")


def _data_room(host: str, path: str, space: DiskSpace) -> Diagnostic:
    seen = f"{path} has {_spell(space.free)} of {_spell(space.size)} free"
    if space.free < LEASE_ROOM:
        return bad(host, "room for data", seen, "free some space there: a broker that cannot write shuts down")
    if space.free < SCARCE * space.size:
        return warning(
            host, "room for data", seen, "free some space there: an experiment writes records, and recovery copies them"
        )
    return ok(host, "room for data", seen)


def _draws(facts: HostFacts, firewall: str) -> str:
    """Return the feature that drops packets at random, of the packet filter that cuts use on this host."""
    by_nft = facts.filters.get("nft", CapabilityTest(works=False)).works and firewall != "iptables"
    return "numgen" if by_nft else "statistic"


def _kernel(host: str, facts: HostFacts, needs: HostRequirements, draws: str) -> Iterator[Diagnostic]:
    """Yield findings about kernel features: bad if a planned step lacks one, else for information."""
    what, needed = f"kernel {facts.release}", {*needs.queues, *(CHANCE if needs.losses else ())}
    for name, means in _KERNEL.items():
        tried = facts.kernel.get(name)
        if tried is None or (name in CHANCE and name != draws):
            continue
        if tried.works:
            yield ok(host, what, f"{means} works")
        elif tried.works is None:
            yield unknown(host, what, f"{means}: {tried.why}")
        elif name in needed:
            module = _MODULE.get(name, f"sch_{name}")
            yield bad(
                host, what, f"no {means}, which a step of the scenario needs: {tried.why}",
                f"load the module (modprobe {module}), boot a kernel that has it, or leave the step out",
            )  # fmt: skip
        else:
            yield ok(host, what, f"no {means}{_WITHOUT.get(name, '')}: {tried.why}")


def _spell(kib: int) -> str:
    for unit in ("KiB", "MiB", "GiB"):
        if kib < 10_000:
            return f"{kib} {unit}"
        kib //= 1024
    return f"{kib} TiB"
