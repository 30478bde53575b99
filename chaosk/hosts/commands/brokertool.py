"""Commands that change settings of brokers, quotas and ACLs: one constant script, run as root on a host. Pure.

The script calls Kafka's kafka-configs.sh and kafka-acls.sh on the host, so that the host can undo it if chaosk dies.
"""

from __future__ import annotations

from chaosk.core.errors import StepError
from chaosk.hosts.scripts import script_command
from chaosk.spec.command import Command
from chaosk.spec.entity import Acl, Entity, Settings
from chaosk.spec.inventory import Inventory

QUICK = 15.0
"""Time-out in seconds for a check."""
SLOW = 60.0
"""Time-out in seconds for a Kafka tool on a busy host; it runs twice if part of the change is done already."""
IN_THE_CLEAR = "PLAINTEXT"


def fits(inventory: Inventory, host: str) -> Command:
    """Check that the host has the tool and its configuration file."""
    return script_command(host, "settings", "fits", *tool(inventory), timeout=QUICK)


def change(inventory: Inventory, host: str, settings: Settings) -> Command:
    """Set and remove settings of a broker or of clients; idempotent.

    Raises StepError if the tool could not log in.
    """
    if (why := refused(inventory)) is not None:
        raise StepError(why)
    of = settings.of
    words = tuple(name if value is None else f"{name}={value}" for name, value in settings.values.items())
    words = ("change", *place(inventory), of.name, of.user or "", of.client or "", *words)
    return script_command(host, "settings", *words, timeout=SLOW)


def grant(inventory: Inventory, host: str, of: Entity, acl: Acl, *, there: bool) -> Command:
    """Add an ACL to a resource, or remove it; idempotent.

    Raises StepError if the tool could not log in.
    """
    if (why := refused(inventory)) is not None:
        raise StepError(why)
    words = (*place(inventory), str(of.resource), of.name, acl.permission, acl.principal, acl.operation)
    return script_command(host, "settings", "grant" if there else "withdraw", *words, timeout=SLOW)


def have_certificate(inventory: Inventory, broker: int, place: str, mark: str, pem: str) -> Command:
    """Make a broker present the certificate in ``pem`` at the listener whose keystore settings ``place`` names.

    ``mark`` is the file's name on the host. Raises StepError if the tool could not log in.
    """
    command = _on_certificate(inventory, broker, "put", mark, place)
    return command.model_copy(update={"stdin": pem})


def keystore(listener: str) -> str:
    """Return the prefix of the broker settings that select a listener's certificate."""
    return f"listener.name.{listener.lower()}.ssl.keystore"


def have_former(inventory: Inventory, broker: int, mark: str, former: Settings) -> Command:
    """Make a broker present its former certificate again, by its former settings."""
    words = (name if value is None else f"{name}={value}" for name, value in former.values.items())
    return _on_certificate(inventory, broker, "lift", mark, *words)


def _on_certificate(inventory: Inventory, broker: int, action: str, mark: str, *words: str) -> Command:
    if (why := refused(inventory)) is not None:
        raise StepError(why)
    address, port = inventory.client_addresses()[broker]
    words = (action, *tool(inventory), f"{address}:{port}", str(broker), mark, *words)
    return script_command(inventory.brokers[broker].host, "certificate", *words, timeout=2 * SLOW)


def place(inventory: Inventory) -> tuple[str, str, str]:
    """Return the arguments common to all changes of a cluster: Kafka's home, client configuration, and brokers."""
    return (*tool(inventory), ",".join(f"{host}:{port}" for host, port in inventory.client_addresses().values()))


def refused(inventory: Inventory) -> str | None:
    """Return why Kafka's tools cannot log in to the cluster, with a remedy; None if they can, as far as known."""
    spoken = inventory.client.get("security.protocol", IN_THE_CLEAR)
    if inventory.kafka.client_config is not None or str(spoken).upper() == IN_THE_CLEAR:
        return None
    return (
        f"clients of {inventory.name} use {spoken}, so Kafka's own tools on the hosts need a file with these settings; "
        "write `client_config` below `kafka` in the inventory"
    )


def tool(inventory: Inventory) -> tuple[str, str]:
    """Return the arguments of all Kafka tools: Kafka's home, and client configuration or nothing."""
    return inventory.kafka.home, inventory.kafka.client_config or ""
