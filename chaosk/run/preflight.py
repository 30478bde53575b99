"""Whether a run may start: every host usable, the cluster of the right shape and healthy. Nothing is touched."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor

from chaosk.errors import ChaoskError, PreflightError
from chaosk.inventory import Inventory
from chaosk.lease import Held
from chaosk.scenario import ClusterShape, Size


def check_shape(shape: ClusterShape, inventory: Inventory) -> None:
    """Raise PreflightError if the cluster has too few or too many brokers or ZooKeeper nodes for the scenario."""
    wrong = [
        f"the scenario needs {_spell(size)} {what}, {inventory.name} has {have}"
        for what, size, have in (
            ("brokers", shape.brokers, len(inventory.brokers)),
            ("ZooKeeper nodes", shape.zookeepers, len(inventory.zookeepers)),
        )
        if have < size.min or (size.max is not None and have > size.max)
    ]
    if wrong:
        raise PreflightError("; ".join(wrong) + "; name another cluster with --inventory")


def check_hosts(hosts: Iterable[str], check: Callable[[str], None]) -> None:
    """Check every host at the same time; raise PreflightError with what is wrong on each of them."""
    names = list(hosts)
    with ThreadPoolExecutor(max_workers=max(1, len(names))) as pool:
        problems = [problem for problem in pool.map(lambda host: _problem(host, check), names) if problem]
    if problems:
        raise PreflightError("the run cannot start:\n" + "\n".join(f"  {problem}" for problem in problems))


def check_health(problems: tuple[str, ...]) -> None:
    """Raise PreflightError if the cluster is not healthy: a fault on top would prove nothing."""
    if problems:
        listed = "\n".join(f"  {problem}" for problem in problems)
        raise PreflightError(f"the cluster is not healthy, so an experiment on it would prove nothing:\n{listed}")


def check_leftovers(found: Mapping[str, tuple[Held, ...] | str]) -> None:
    """Raise PreflightError if a former run has left a lease on a host, or a host does not answer.

    One whose fault the host has undone by itself is left as well: somebody should know that the run was cut short.
    """
    told = [
        f"{host}: {one.about.get('entry', one.id)} of {one.about.get('run', 'an unknown run')} ({one.state})"
        for host, leases in found.items()
        if not isinstance(leases, str)
        for one in leases
    ]
    told += [f"{host}: {why}" for host, why in found.items() if isinstance(why, str)]
    if told:
        listed = "\n".join(f"  {line}" for line in told)
        raise PreflightError(f"a former run left faults on the hosts:\n{listed}\ndo: chaosk heal --inventory FILE")


def _problem(host: str, check: Callable[[str], None]) -> str | None:
    try:
        check(host)
    except ChaoskError as error:
        return str(error)
    return None


def _spell(size: Size) -> str:
    if size.max is None:
        return f"at least {size.min}"
    return f"exactly {size.min}" if size.min == size.max else f"{size.min} to {size.max}"
