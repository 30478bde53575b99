"""The plan of a run: all inputs that determine it, recorded before it starts; no network.

``plan.json`` is the first file of a run directory. It holds references to secrets, never secrets.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import Annotated

from pydantic import Field, StringConstraints

from chaosk.core.errors import UsageError
from chaosk.core.model import Model
from chaosk.spec.inventory import Inventory
from chaosk.spec.scenario import Scenario

VERSION = 1
"""Version of the plan's format."""

_TOOLS = ("chaosk", "confluent-kafka", "pyspark", "pyarrow", "kafka-python", "paramiko")


class Plan(Model):
    """One run, before it starts."""

    version: int = VERSION
    run_id: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$")]
    """Unique; marks everything that the run leaves anywhere, and names files on hosts."""
    seed: int
    """Determines every random choice: the same plan and seed on the same cluster give the same nodes."""
    scenario: Scenario
    inventory: Inventory
    kafka: str | None = None
    """The brokers' version according to the inventory."""
    versions: dict[str, str] = Field(default_factory=dict)
    """Versions of chaosk and the libraries that act or judge, with ``librdkafka`` and ``python``."""

    def to_json(self) -> str:
        """Return the text of ``plan.json``."""
        return self.model_dump_json(by_alias=True, indent=2) + "\n"

    @classmethod
    def from_json(cls, text: str | bytes) -> Plan:
        """Parse ``plan.json``; raises UsageError if it is invalid, or of an unsupported version."""
        try:
            plan = cls.model_validate_json(text)
        except (ValueError, KeyError) as error:
            raise UsageError("plan.json is damaged, or was not written by chaosk; run the scenario again") from error
        if plan.version != VERSION:
            raise UsageError(f"plan.json has version {plan.version}; this chaosk reads version {VERSION}")
        return plan


def make(scenario: Scenario, inventory: Inventory, run_id: str, seed: int) -> Plan:
    """Make the plan of one run, with the versions of the installed software."""
    kafka = inventory.kafka.version
    return Plan(
        run_id=run_id, seed=seed, scenario=scenario, inventory=inventory, kafka=kafka, versions=installed_versions()
    )


def installed_versions() -> dict[str, str]:
    """Return the versions of chaosk, its libraries, librdkafka and Python on this machine, by name."""
    import platform  # noqa: PLC0415 - only needed here

    import confluent_kafka  # noqa: PLC0415 - loading librdkafka takes time that `validate` need not spend

    found = {"python": platform.python_version(), "librdkafka": str(confluent_kafka.libversion()[0])}
    for tool in _TOOLS:
        try:
            found[tool] = version(tool)
        except PackageNotFoundError:
            continue
    return dict(sorted(found.items()))
