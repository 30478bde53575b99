"""YAML text into nodes, event by event, so that nothing unsupported is ever built.

PyYAML scans and parses; composing is done here. Tags, aliases and merge keys therefore never have an effect, and
excessive depth and duplicate keys are found while reading.
"""

from __future__ import annotations

from collections.abc import Iterator

import yaml

from chaosk.document import scalars
from chaosk.document.nodes import Mapping, Node, Path, Scalar, Sequence, SourcePosition, Value
from chaosk.document.source import Unreadable, decode, hidden, name
from chaosk.document.syntax import explained

DEEPEST = 32
"""Levels of nesting; a scenario needs eight."""

MOST_VALUES = 10_000
"""Keys and values of a document, more than any file written by hand has."""
LONGEST = 10_000
"""Characters of one value."""
MOST_FOUND = 200
"""Mistakes after which reading stops."""

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml if PyYAML was built with it: 1 MiB takes 0.2 s instead of 10."""

Found = tuple[SourcePosition, Path, str]
"""Place, path of the node, and the mistake with its remedy."""


def parse(data: bytes) -> tuple[Node | None, list[Found]]:
    """Return the document of a file, and its mistakes as YAML; no node if reading had to stop."""
    composer = _Composer()
    try:
        text = decode(data)
        root = composer.document(yaml.parse(text, Loader=_LOADER))
    except Unreadable as error:
        return None, [*composer.found, (error.place, (), error.what)]
    except yaml.YAMLError as error:
        place, what = explained(error)
        return None, [*composer.found, (place, (), what)]
    return root, composer.found


class _Composer:
    """Builds nodes from events, and collects the mistakes that do not stop it."""

    def __init__(self) -> None:
        self.found: list[Found] = []
        self._values = 0

    def document(self, events: Iterator[yaml.Event]) -> Node:
        root: Node | None = None
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                self._one_document(event, root)
            elif isinstance(event, yaml.NodeEvent):
                root = self._node(event, events, ())
        if root is None or (isinstance(root, Scalar) and root.value is None):
            raise Unreadable(
                SourcePosition(1, 1), "the file is empty; write a document with `name:` and its other keys"
            )
        return root

    def _one_document(self, event: yaml.DocumentStartEvent, root: Node | None) -> None:
        if root is not None:
            raise Unreadable(_place(event), "a second document starts here; write one file for each")
        if event.version or event.tags:
            self._complain(event, (), "directives (%YAML, %TAG) are not read; remove them")

    def _node(self, event: yaml.Event, events: Iterator[yaml.Event], path: Path) -> Node:
        if isinstance(event, yaml.AliasEvent):
            self._complain(
                event, path, f"aliases (*{event.anchor}) are not read; write the value itself, or use a variable"
            )
            return Scalar(_place(event), "", "")
        self._values += 1
        if self._values > MOST_VALUES:
            raise Unreadable(_place(event), f"more than {MOST_VALUES} keys and values; write a smaller document")
        if len(path) > DEEPEST:
            raise Unreadable(_place(event), f"nested deeper than {DEEPEST} levels; write it flatter")
        if not isinstance(event, yaml.ScalarEvent | yaml.CollectionStartEvent):
            raise TypeError(f"{type(event).__name__} starts no node")
        if event.anchor is not None:
            self._complain(event, path, f"anchors (&{event.anchor}) are not read; remove it, or use a variable")
        if event.tag is not None:
            self._complain(event, path, f"tags ({event.tag[:40]}) are not read; remove it")
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event, path)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(event, events, path)
        return self._mapping(event, events, path)

    def _scalar(self, event: yaml.ScalarEvent, path: Path) -> Scalar:
        if len(event.value) > LONGEST:
            self._complain(event, path, f"is longer than {LONGEST} characters; write a shorter value")
            event.value = event.value[:LONGEST]  # later checks need not look at all of it
        text, place = event.value, _place(event)
        bad = next((sign for sign in text if hidden(sign) and sign not in "\t\n\r"), None)
        if bad is not None:
            self._complain(event, path, f"holds the invisible character {name(bad)}; remove it")
        return Scalar(place, self._value(event, path), text)

    def _value(self, event: yaml.ScalarEvent, path: Path) -> Value:
        if event.style:  # quoted or a block; libyaml's plain style is an empty string
            return str(event.value)
        try:
            return scalars.resolve(event.value)
        except ValueError as error:
            self._complain(event, path, str(error))
            return str(event.value)

    def _sequence(self, event: yaml.SequenceStartEvent, events: Iterator[yaml.Event], path: Path) -> Sequence:
        items: list[Node] = []
        while not isinstance(each := next(events), yaml.SequenceEndEvent):
            items.append(self._node(each, events, (*path, len(items))))
        return Sequence(_place(event), tuple(items))

    def _mapping(self, event: yaml.Event, events: Iterator[yaml.Event], path: Path) -> Mapping:
        mapping = Mapping(_place(event), {})
        while not isinstance(each := next(events), yaml.MappingEndEvent):
            key = self._key(each, events, path)
            value = self._node(next(events), events, (*path, key))
            if key in mapping.values:
                first = mapping.keys[key]
                self._complain(
                    each, (*path, key), f"{key!r} is here twice, first in line {first.line}; keep one of them"
                )
            elif key != "<<":
                mapping.values[key] = value
                mapping.keys[key] = _place(each)
        return mapping

    def _key(self, event: yaml.Event, events: Iterator[yaml.Event], path: Path) -> str:
        name = event.value if isinstance(event, yaml.ScalarEvent) else "?"
        node = self._node(event, events, (*path, name))  # a longer path, so that keys inside keys count as depth
        if not isinstance(node, Scalar):
            self._complain(event, path, "a list or mapping cannot be a key; write a word")
            return "?"
        if node.text == "<<":
            self._complain(event, path, "merge keys (<<) are not read; write the keys themselves")
        elif isinstance(node.value, bool | float) or node.value is None:
            self._complain(event, path, f"{node.text or 'nothing'!r} as a key; write a word, or put it in quotes")
        return node.text

    def _complain(self, event: yaml.Event, path: Path, what: str) -> None:
        self.found.append((_place(event), path, what))
        if len(self.found) > MOST_FOUND:
            raise Unreadable(_place(event), f"more than {MOST_FOUND} mistakes up to here; fix these first")


def _place(event: yaml.Event) -> SourcePosition:
    mark = event.start_mark
    return SourcePosition(mark.line + 1, mark.column + 1) if mark is not None else SourcePosition(1, 1)
