"""A draft as the text of an inventory: each value with where it was learned as a comment, questions in place. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from chaosk.discovery.findings import Place, Plain, Value
from chaosk.discovery.merge import InventoryDraft
from chaosk.document.scalars import resolve
from chaosk.spec.open_question import question

_TOP = ("name", "network_namespace", "hosts", "brokers", "controllers", "zookeepers", "kafka", "client")
_HOST = ("address", "port", "user", "key_file", "known_hosts", "ssh", "sudo", "gate")
_SERVER = (
    "host", "service", "config", "data", "log", "rack", "listeners", "controller_listener", "port", "client_port",
    "peer_ports",
)  # fmt: skip
_LOWER = ("systemd", "start", "stop", "pid_file", "address", "port", "clients", "home", "client_config", "version")
_PLAIN = re.compile(r"[A-Za-z0-9/][A-Za-z0-9_./@+-]*(:[A-Za-z0-9_./@+-]+)*")
_COLUMN = 56
"""Column of the comments, where the values are shorter."""
_WIDTH = 118


def inventory_text(draft: InventoryDraft, header: Sequence[str] = ()) -> str:
    """Return the YAML text; ``header``: the lines of the comment at its beginning."""
    lines = [f"# {line}".rstrip() for line in header]
    lines += _block(draft, _tree(draft), (), 0)
    return "\n".join(lines) + "\n"


Tree = Mapping[str, "Tree | None"]


def _tree(draft: InventoryDraft) -> Tree:
    root: dict[str, object] = {}
    for place in (*draft.facts, *draft.questions):
        at = root
        for step in place[:-1]:
            at = at.setdefault(step, {})  # type: ignore[assignment]
        at.setdefault(place[-1], None)
    return root  # type: ignore[return-value]


def _block(draft: InventoryDraft, tree: Tree, place: Place, depth: int) -> Iterator[str]:
    for key in sorted(tree, key=lambda key: _rank(place, key)):
        below, at = tree[key], (*place, key)
        indent = "  " * depth
        if not depth and place == () and isinstance(below, Mapping):
            yield ""
        for remark in draft.remarks:
            if remark.place == at:
                yield from _comment(remark.text, indent)
        if isinstance(below, Mapping) and (line := _in_one_line(draft, below, at)) is not None:
            yield _line(f"{indent}{_scalar(_typed(key))}: {line[0]}", line[1])
        elif isinstance(below, Mapping):
            yield f"{indent}{_scalar(_typed(key))}:"
            yield from _block(draft, below, at, depth + 1)
        elif at in draft.facts:
            fact = draft.facts[at]
            yield _line(f"{indent}{_scalar(_typed(key))}: {_written(fact.value)}", fact.source)
        else:
            yield f"{indent}{_scalar(_typed(key))}: {_scalar(question(draft.questions[at].asks))}"


def _in_one_line(draft: InventoryDraft, tree: Tree, place: Place) -> tuple[str, str] | None:
    """Return a small block of values in braces, and its sources; None if it is none."""
    facts = [draft.facts.get((*place, key)) for key in sorted(tree, key=lambda key: _rank(place, key))]
    if (
        (len(place) < 3 and place[0] != "client")
        or not all(facts)
        or any(draft.facts[(*place, key)].value == () for key in tree)
    ):
        return None
    known = [fact for fact in facts if fact is not None]
    if any(isinstance(fact.value, tuple) for fact in known):
        return None
    pairs = ", ".join(f"{_scalar(fact.place[-1])}: {_written(fact.value)}" for fact in known)
    return f"{{{pairs}}}", "; ".join(dict.fromkeys(fact.source for fact in known))


def _rank(place: Place, key: str) -> tuple[int, int]:
    """Return the position of a key: known keys in a fixed order, ids by number, names as they were found."""
    if key.isdigit():
        return (0, int(key))
    order = {0: _TOP, 1: _LOWER if place[:1] == ("kafka",) else (), 2: _HOST if place[:1] == ("hosts",) else _SERVER}
    keys = order.get(len(place), () if place[-1:] == ("listeners",) else _LOWER)
    return (keys.index(key) if key in keys else len(keys), 0)


def _typed(key: str) -> str | int:
    return int(key) if re.fullmatch(r"0|[1-9][0-9]*", key) else key


def _written(value: Value) -> str:
    return f"[{', '.join(_scalar(item) for item in value)}]" if isinstance(value, tuple) else _scalar(value)


def _scalar(value: Plain) -> str:
    """Write a value so that chaosk and other readers of YAML read the same value."""
    if not isinstance(value, str):
        return json.dumps(value)
    if _PLAIN.fullmatch(value) and value.lower() not in {"yes", "no", "on", "off", "y", "n"}:
        try:
            if resolve(value) == value and not re.fullmatch(r"[0-9:.]+", value):
                return value
            if re.fullmatch(r"\d+\.\d+\.\d+(\.\d+)?", value):
                return value
        except ValueError:
            pass
    return json.dumps(value, ensure_ascii=False)


def _line(text: str, source: str) -> str:
    return f"{text.ljust(_COLUMN)}  # {_clean(source)}" if source else text


def _comment(text: str, indent: str) -> Iterator[str]:
    words, line = _clean(text).split(" "), ""
    for word in words:
        if line and len(indent) + len(line) + len(word) + 3 > _WIDTH:
            yield f"{indent}# {line}"
            line = word
        else:
            line = f"{line} {word}" if line else word
    yield f"{indent}# {line}"


def _clean(text: str) -> str:
    return "".join(sign if sign.isprintable() else " " for sign in text)
