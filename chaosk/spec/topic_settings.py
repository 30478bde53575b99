"""Topic settings by Kafka's release, with the values that a broker refuses.

Names, types and bounds are those of ``LogConfig`` in Kafka 3.9.2 and 4.2.0, found with its own ``validate``. A broker
reads values as text: ``2`` and ``"2"`` are the same to it, and ``2.0`` is not a whole number.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from chaosk.core.suggest import instead
from chaosk.spec.entity import spelled

_INT, _LONG = 2**31 - 1, 2**63 - 1
_WHOLE = r"[+-]?[0-9]+"
_VERSION = r"(0\.(8\.[0-2]|9\.0|10\.[0-2]|11\.0)|[1-3]\.[0-9])(\.[0-9]+|-IV[0-9])*"
_PLACES = r"\*|[0-9]+:[0-9]+(?:, ?[0-9]+:[0-9]+)*"


@dataclass(frozen=True, slots=True)
class TopicSetting:
    """The values that one setting accepts."""

    kind: Literal["whole", "share", "boolean", "word", "words", "places", "version"]
    low: float = -_LONG - 1
    high: float = _LONG
    words: tuple[str, ...] = ()
    besides: float | None = None
    """One accepted number outside of the bounds."""

    def refusal(self, value: object) -> str | None:
        """Return the reason why a broker refuses a value, with a remedy; None if it accepts it."""
        text = spelled(value).strip()
        if self.kind in ("whole", "share"):
            return self._number(text)
        if self.kind == "boolean":
            return None if text.lower() in ("true", "false") else f"{text!r} is neither; write true or false"
        if self.kind == "places":
            fits = re.fullmatch(_PLACES, text) or not text
            return None if fits else f"{text!r} names no replicas; write PARTITION:BROKER,PARTITION:BROKER, or *"
        if self.kind == "version":
            return None if re.fullmatch(_VERSION, text) else f"{text!r} is no version of Kafka; write one, like 3.0"
        named = [each.strip() for each in text.split(",")] if self.kind == "words" and text else [text]
        strange = next((each for each in named if each not in self.words), None)
        if strange is None or (self.kind == "words" and not text):
            return None
        return f"{strange!r} is none of its values; {instead(strange, self.words)}"

    def _number(self, text: str) -> str | None:
        pattern = _WHOLE if self.kind == "whole" else rf"{_WHOLE}(\.[0-9]+)?|[+-]?\.[0-9]+"
        noun = "whole number" if self.kind == "whole" else "number"
        if not re.fullmatch(pattern, text):
            return f"{text!r} is no {noun}; write one {self._bounds()}"
        number = int(text) if self.kind == "whole" else float(text)
        if self.low <= number <= self.high or number == self.besides:
            return None
        return f"a broker refuses {text}; write a {noun} {self._bounds()}"

    def _bounds(self) -> str:
        besides = "" if self.besides is None else f", or {self.besides:g}"
        low, high = (f"{int(end) if self.kind == 'whole' else end}" for end in (self.low, self.high))
        if self.low <= -_LONG:
            return f"up to {high}{besides}"
        return f"from {low} {'up' if self.high == _LONG else f'to {high}'}{besides}"


def _int(low: float, high: float = _INT, besides: float | None = None) -> TopicSetting:
    return TopicSetting("whole", low, high, besides=besides)


def _long(low: float = -_LONG - 1) -> TopicSetting:
    return TopicSetting("whole", low)


_FLAG, _REPLICAS = TopicSetting("boolean"), TopicSetting("places")
_BOTH = {
    "cleanup.policy": TopicSetting("words", words=("compact", "delete")),
    "compression.gzip.level": _int(1, 9, besides=-1),
    "compression.lz4.level": _int(1, 17),
    "compression.type": TopicSetting("word", words=("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer")),
    "compression.zstd.level": _int(-131_072, 22),
    "delete.retention.ms": _long(0),
    "file.delete.delay.ms": _long(0),
    "flush.messages": _long(1),
    "flush.ms": _long(0),
    "follower.replication.throttled.replicas": _REPLICAS,
    "index.interval.bytes": _int(0),
    "leader.replication.throttled.replicas": _REPLICAS,
    "local.retention.bytes": _long(-2),
    "local.retention.ms": _long(-2),
    "max.compaction.lag.ms": _long(1),
    "max.message.bytes": _int(0),
    "message.timestamp.after.max.ms": _long(0),
    "message.timestamp.before.max.ms": _long(0),
    "message.timestamp.type": TopicSetting("word", words=("CreateTime", "LogAppendTime")),
    "min.cleanable.dirty.ratio": TopicSetting("share", 0, 1),
    "min.compaction.lag.ms": _long(0),
    "min.insync.replicas": _int(1),
    "preallocate": _FLAG,
    "remote.log.copy.disable": _FLAG,
    "remote.log.delete.on.disable": _FLAG,
    "remote.storage.enable": _FLAG,
    "retention.bytes": _long(),
    "retention.ms": _long(-1),
    "segment.index.bytes": _int(4),
    "segment.jitter.ms": _long(0),
    "segment.ms": _long(1),
    "unclean.leader.election.enable": _FLAG,
}

SETTINGS: dict[int, dict[str, TopicSetting]] = {
    3: {
        **_BOTH,
        "message.downconversion.enable": _FLAG,
        "message.format.version": TopicSetting("version"),
        "message.timestamp.difference.max.ms": _long(0),
        "segment.bytes": _int(14),
    },
    4: {**_BOTH, "internal.segment.bytes": _int(-_INT - 1), "segment.bytes": _int(1_048_576)},
}
"""By Kafka's major version, then by name."""
RELEASES = frozenset(SETTINGS)


def refusal(name: str, value: object, releases: Collection[int] = RELEASES) -> str | None:
    """Return why all these releases refuse a topic's setting, with a remedy; None if one of them accepts it."""
    told = [_refused(name, value, release) for release in sorted(releases, reverse=True)]
    return None if None in told else told[0]


def _refused(name: str, value: object, release: int) -> str | None:
    known = SETTINGS[release]
    if name not in known:
        if any(name in others for others in SETTINGS.values()):
            return f"topics of Kafka {release} have no setting {name}; remove it"
        return f"topics have no setting {name!r}; {instead(name, known)}"
    return known[name].refusal(value)
