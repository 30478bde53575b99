"""Change the configuration of a topic while clients use it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field, StringConstraints

from chaosk.spec.contracts.step import Configure, Deed, Fact, Site
from chaosk.spec.entity import Entity, Settings, spelled
from chaosk.steps._partitions import owned
from chaosk.steps._settings import Settled

Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z.]{1,80}$")]


def _judged(config: dict[str, str | int | float | bool]) -> dict[str, str | int | float | bool]:
    if "cleanup.policy" in config:
        msg = (
            "records removed by compaction cannot be distinguished from lost ones; write cleanup.policy to the topic's "
            "own `config`, and change other settings here"
        )
        raise ValueError(msg)
    return config


class SetTopicConfig(Settled):
    """Change settings of a topic, as kafka-configs.sh does; the undo restores the former values.

    The undo removes settings that the topic did not have. The step takes once the controller reports the new values.
    Their effect may come later: retention, for example, deletes whole segments, every
    ``log.retention.check.interval.ms`` of the broker (five minutes by default).

    For the rules a value is in force from five seconds before a broker reports it until five seconds after the report
    of the next one. If several values may have been in force, the laxest counts. So a loss by an unclean election is
    allowed only if ``unclean.leader.election.enable`` may have been true at that election.

    Only topics that chaosk created can be changed. chaosk itself sends the undo, and no host keeps it. If chaosk dies
    before, the settings stay until the next run with this topic, which deletes the topic and creates it again.
    """

    example: ClassVar[str] = """\
at: 10s
set_topic_config: {topic: orders, config: {retention.bytes: 100000}}
for: 30s
"""

    topic: str
    """The topic, one of the scenario's."""
    config: Annotated[dict[Name, str | int | float | bool], Field(min_length=1, max_length=50), AfterValidator(_judged)]
    """The new settings, as in a topic's own ``config``, without ``cleanup.policy``."""

    def targets(self) -> tuple[str, ...]:
        """Return none: the controller does it."""
        return ()

    def changes(self, site: Site) -> Iterator[Settings]:  # noqa: ARG002 - the same everywhere
        """Yield all settings at once."""
        values: dict[str, str | None] = {name: spelled(value) for name, value in self.config.items()}
        yield Settings(of=Entity(kind="topic", name=self.topic), values=values)

    def before(self, site: Site) -> Iterator[Fact]:  # noqa: ARG002 - the same everywhere
        """Require that chaosk created the topic."""
        yield owned(self.topic)

    def inject(self, site: Site) -> Iterator[Deed]:
        """Send one request."""
        for one in self.changes(site):
            yield Configure(settings=one)

    def undo(self, site: Site) -> Iterator[Deed]:
        """Restore the former values."""
        for one in self.changes(site):
            yield Configure(settings=site.former_of(one), back=True)
