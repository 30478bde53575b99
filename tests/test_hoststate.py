"""Whether a host is as it was before: what counts as chaosk's doing, and what as somebody else's."""

from __future__ import annotations

import pytest

from chaosk.hosts.fingerprint import changes, differences, unhealed

BEFORE = """\
iptables -A INPUT -j f2b-sshd
iptables -A INPUT -s 192.0.2.1/32 -j DROP
iptables -A f2b-sshd -j RETURN
service /run/kafka/kafka.pid running
"""
RUNS = "service /run/kafka/kafka.pid running"
OWN = "iptables :CHAOSK-0123456789-I -\n"
JUMP = "iptables -A INPUT -m comment --comment chaosk:x -j C\n"


def test_the_same_is_no_change() -> None:
    """Nothing to tell."""
    assert changes(BEFORE, BEFORE) == ()
    assert differences({"node1": BEFORE}, {"node1": BEFORE}) == ()


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (RUNS, RUNS.replace("running", "absent"), "kafka.pid absent"),
        (RUNS, RUNS.replace("running", "frozen"), "kafka.pid frozen"),
        ("iptables -A INPUT -s 192.0.2.1/32 -j DROP\n", "", "- iptables -A INPUT -s 192.0.2.1/32"),
        ("iptables -A f2b-sshd", f"{OWN}iptables -A f2b-sshd", "+ iptables :CHAOSK-0123456789"),
        ("iptables -A INPUT -j f2b", f"{JUMP}iptables -A INPUT -j f2b", "chaosk:x"),
    ],
)
def test_what_chaosk_touches_must_be_as_it_was(old: str, new: str, told: str) -> None:
    """A service that does not run, a user's rule that is gone, a chain of ours that is left: not healed."""
    (line,) = differences({"node1": BEFORE}, {"node1": BEFORE.replace(old, new)})
    assert line.startswith("node1: its state has changed: ")
    assert told in line


def test_the_order_of_rules_is_part_of_it() -> None:
    """The first rule that matches decides, so two rules that changed places are a change."""
    lines = BEFORE.splitlines(keepends=True)
    (line,) = differences({"node1": BEFORE}, {"node1": "".join((lines[1], lines[0], *lines[2:]))})
    assert "moved" in line


def test_what_another_program_changes_is_no_reason_to_cry() -> None:
    """An address that was blocked meanwhile, in a chain that is not ours: a change, and not chaosk's."""
    after = BEFORE.replace("iptables -A f2b", "iptables -A f2b-sshd -s 192.0.2.7/32 -j REJECT\niptables -A f2b")
    changed = changes(BEFORE, after)
    assert changed == ("+ iptables -A f2b-sshd -s 192.0.2.7/32 -j REJECT",)
    assert unhealed(changed) == ()


def test_a_host_that_does_not_answer_is_not_healed() -> None:
    """Nobody knows; that is never a yes. One that did not answer before was never looked at."""
    (line,) = differences({"node1": BEFORE, "node2": BEFORE}, {"node2": BEFORE})
    assert line == "node1: it does not answer, so its state is unknown"
    assert differences({}, {"node1": BEFORE}) == ()


def test_a_boot_is_no_change_but_what_it_took_is() -> None:
    """A host that was booted is as it was if all else is; a rule that nobody had saved is told with the reason."""
    old, new = (f"boot {one}\n{BEFORE}" for one in ("3d90effe", "7b217c97"))
    assert changes(old, new) == ("- boot 3d90effe", "+ boot 7b217c97")
    assert differences({"node1": old}, {"node1": new}) == ()
    (line,) = differences({"node1": old}, {"node1": new.replace("iptables -A INPUT -s 192.0.2.1/32 -j DROP\n", "")})
    assert line.startswith("node1: its state has changed (and it was booted since): - iptables -A INPUT -s 192.0.2.1")
