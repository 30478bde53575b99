"""Who keeps the metadata, as an inventory says it."""

from __future__ import annotations

import pytest

from chaosk.spec.quorum import mistakes

LISTENERS: dict[str, object] = {"CLIENT": {}, "CONTROLLER": {}}


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"brokers": {0: {"listeners": LISTENERS}}, "zookeepers": {1: {}}},
        {"brokers": {0: {"listeners": LISTENERS, "controller_listener": "CONTROLLER"}}},
        {"brokers": {0: {"listeners": LISTENERS}}, "controllers": {101: {}}},
        {"brokers": {0: {"listeners": LISTENERS, "controller_listener": "CONTROLLER"}}, "controllers": {101: {}}},
        {"brokers": "none", "controllers": 7, "zookeepers": None},
    ],
)
def test_what_is_right(document: object) -> None:
    """ZooKeeper, combined, separate, mixed; and what is no inventory at all is told of elsewhere."""
    assert list(mistakes(document)) == []


@pytest.mark.parametrize(
    ("document", "path", "says"),
    [
        (
            {"brokers": {0: {"listeners": LISTENERS, "controller_listener": "CONTROL"}}},
            ("brokers", "0", "controller_listener"),
            "there is no listener 'CONTROL'; listeners are CLIENT, CONTROLLER",
        ),
        ({"brokers": {1: {}}, "controllers": {"1": {}}}, ("controllers", "1"), "is the id of a broker, too"),
        ({"controllers": {1: {}}, "zookeepers": {1: {}}}, ("zookeepers",), "not by both"),
        (
            {"brokers": {0: {"listeners": LISTENERS, "controller_listener": "CONTROLLER"}}, "zookeepers": {1: {}}},
            ("zookeepers",),
            "not by both",
        ),
    ],
)
def test_what_contradicts_itself(document: object, path: tuple[str, ...], says: str) -> None:
    """Each contradiction once, with its place and what to write."""
    ((where, what),) = mistakes(document)
    assert where == path
    assert says in what
