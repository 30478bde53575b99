"""Commands that change settings of brokers, quotas and rights of clients: one constant script, as root on a host. Pure.

Kafka's own kafka-configs.sh and kafka-acls.sh do it, there: so a host can undo it by itself when chaosk is gone.
"""

from __future__ import annotations

from chaosk.core.errors import StepError
from chaosk.hosts.scripts import script
from chaosk.spec.command import Command
from chaosk.spec.entity import Acl, Entity, Settings
from chaosk.spec.inventory import Inventory

QUICK = 15.0
"""Seconds to look."""
SLOW = 60.0
"""Seconds for Kafka's tool, which starts twice where a part of it is done already; busy hosts take long over that."""
IN_THE_CLEAR = "PLAINTEXT"


def fits(inventory: Inventory, host: str) -> Command:
    """Whether the host has the tool, and the file that it needs."""
    return _command(host, "fits", *_tool(inventory), timeout=QUICK)


def change(inventory: Inventory, host: str, settings: Settings) -> Command:
    """Set and remove settings of a broker or of clients; doing it again changes nothing.

    Raises StepError where the tool could not log in.
    """
    if (why := refused(inventory)) is not None:
        raise StepError(why)
    of = settings.of
    words = (name if value is None else f"{name}={value}" for name, value in settings.values.items())
    return _command(host, "change", *place(inventory), of.name, of.user or "", of.client or "", *words)


def grant(inventory: Inventory, host: str, of: Entity, acl: Acl, *, there: bool) -> Command:
    """Add an ACL to those of a resource, or take it away; doing it again changes nothing.

    Raises StepError where the tool could not log in.
    """
    if (why := refused(inventory)) is not None:
        raise StepError(why)
    words = (str(of.resource), of.name, acl.permission, acl.principal, acl.operation)
    return _command(host, "grant" if there else "withdraw", *place(inventory), *words)


def have_certificate(inventory: Inventory, broker: int, place: str, mark: str, pem: str) -> Command:
    """Have a broker show the certificate in ``pem`` where the settings ``place`` say; ``mark``: its name on the host.

    Raises StepError where the tool could not log in.
    """
    command = _on_certificate(inventory, broker, "put", mark, place)
    return command.model_copy(update={"stdin": pem})


def keystore(listener: str) -> str:
    """The settings of a broker that say which certificate it shows at a listener begin like this."""
    return f"listener.name.{listener.lower()}.ssl.keystore"


def have_former(inventory: Inventory, broker: int, mark: str, former: Settings) -> Command:
    """Have a broker show what it showed before: by the settings of that time."""
    words = (name if value is None else f"{name}={value}" for name, value in former.values.items())
    return _on_certificate(inventory, broker, "lift", mark, *words)


def _on_certificate(inventory: Inventory, broker: int, action: str, mark: str, *words: str) -> Command:
    if (why := refused(inventory)) is not None:
        raise StepError(why)
    address, port = inventory.client_addresses()[broker]
    argv = ("sh", "-c", script("certificate"), "chaosk", action, *_tool(inventory), f"{address}:{port}", str(broker))
    host = inventory.brokers[broker].host
    return Command(host=host, argv=(*argv, mark, *words), sudo=True, timeout=2 * SLOW, repeatable=True)


def place(inventory: Inventory) -> tuple[str, str, str]:
    """The words that are the same for all that is changed on a cluster: tool, its file, and where brokers answer."""
    return (*_tool(inventory), ",".join(f"{host}:{port}" for host, port in inventory.client_addresses().values()))


def refused(inventory: Inventory) -> str | None:
    """Why the tool could not log in to the cluster, and what to write; None where the inventory tells of nothing."""
    spoken = inventory.client.get("security.protocol", IN_THE_CLEAR)
    if inventory.kafka.client_config is not None or str(spoken).upper() == IN_THE_CLEAR:
        return None
    return (
        f"clients of {inventory.name} use {spoken}, and Kafka's own tools on the hosts need a file that says how; "
        "write `client_config` below `kafka` in the inventory"
    )


def _tool(inventory: Inventory) -> tuple[str, str]:
    return inventory.kafka.home, inventory.kafka.client_config or ""


def _command(host: str, *words: str, timeout: float = SLOW) -> Command:
    argv = ("sh", "-c", script("settings"), "chaosk", *words)
    return Command(host=host, argv=argv, sudo=True, timeout=timeout, repeatable=True)
