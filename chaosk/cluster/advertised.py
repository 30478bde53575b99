"""Whether clients can come to where brokers tell them to: bootstrap works without it, and nothing after."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from chaosk.cluster.brokers import Brokers
from chaosk.cluster.views import current, metadata_request
from chaosk.cluster.wire import Link, NoAnswer, Place
from chaosk.inventory import Inventory


def misadvertised(brokers: Brokers, inventory: Inventory) -> tuple[str, ...]:
    """A sentence for each broker whose advertised address does not lead to a broker from here; empty if all do.

    Raises ClusterError if no broker answers where the inventory says.
    """
    advertised = sorted(current(brokers.views())[0].advertised.items())
    places = [Place(f"broker {broker}", host, port) for broker, (host, port) in advertised]
    with ThreadPoolExecutor(max(1, len(places)), "advertised") as pool:
        reasons = pool.map(_why_not, places)
        return tuple(
            f"broker {broker} advertises {host}:{port} to clients{_known(inventory, broker)}, and that leads nowhere "
            f"from here: {why}; correct its advertised.listeners, or how that name resolves"
            for (broker, (host, port)), why in zip(advertised, reasons, strict=True)
            if why is not None
        )


def _why_not(place: Place) -> str | None:
    with Link(place) as link:
        try:
            link.ask(metadata_request(()))
        except NoAnswer as error:
            return str(error).removeprefix(f"{place}: ")
    return None


def _known(inventory: Inventory, broker: int) -> str:
    """The listener by its name, as the inventory has it."""
    known = inventory.brokers.get(broker)
    named = [f"{name} is {at.address}:{at.port}" for name, at in known.listeners.items() if at.clients] if known else []
    return f" (in the inventory listener {', '.join(named)})" if named else ""
