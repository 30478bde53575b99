"""Whether a scenario can run on a cluster at all, by the inventory alone."""

from __future__ import annotations

from chaosk.core.errors import ChaoskError
from chaosk.planning.localhost import surely_here
from chaosk.planning.safety import refuse
from chaosk.run.preflight.shape import check_shape
from chaosk.spec.inventory import Inventory
from chaosk.spec.scenario import Scenario


def misfit(scenario: Scenario, inventory: Inventory) -> str | None:
    """Return why a scenario cannot run on a cluster; None if nothing in the inventory speaks against it."""
    most = max((topic.replication_factor for topic in scenario.topics.values()), default=1)
    if most > len(inventory.brokers):
        return f"it needs {most} brokers for its replicas, {inventory.name} has {len(inventory.brokers)}"
    try:
        check_shape(scenario.cluster, inventory)
        refuse(scenario, inventory, surely_here(inventory))
    except ChaoskError as error:
        return str(error)
    return None
