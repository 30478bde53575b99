"""Packets lost by chance, on real packet filters: as many as were asked for, and the rest of a cut as ever."""

from __future__ import annotations

import re
import sys

import pytest

from chaosk.hosts.firewall import commands
from chaosk.hosts.firewall.rules import Loss, Rule

from .machine import CUT, RULES, Machine, gone, remove

pytestmark = pytest.mark.lab

SENT = 4000
COUNT = f"""
import socket
one, two = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
one.bind(("127.0.0.1", 0))
one.setblocking(False)
got = 0
for _ in range({SENT}):
    two.sendto(b"x", one.getsockname())
    try:
        one.recv(10)
        got += 1
    except BlockingIOError:
        pass
print(got)
"""


@pytest.mark.parametrize("share", [0.05, 0.5])
def test_so_many_are_lost(machine: Machine, share: float) -> None:
    """Within five standard deviations of a fair draw; the rules count them, and without the rules none is lost."""
    rules, loss = (Rule("I", loopback=True),), Loss(share)
    machine.do(commands.install("node1", CUT, rules, loss))
    lost = SENT - int(machine.run(sys.executable, "-c", COUNT).stdout)
    assert abs(lost - SENT * share) < 5 * (SENT * share * (1 - share)) ** 0.5
    stopped = re.search(r" (\d+) packets stopped", machine.do(commands.standing("node1", CUT, rules, loss)))
    assert stopped is not None
    assert int(stopped[1]) == lost
    machine.do(remove())
    assert machine.run(sys.executable, "-c", COUNT).stdout == f"{SENT}\n"


@pytest.mark.parametrize("share", [0.0001, 0.0875, 0.9999])
def test_what_is_put_in_place_stands_as_it_was_asked(machine: Machine, share: float) -> None:
    """Every kind of rule, with any share; another share, or a whole cut, is something else; then all is as before."""
    before = machine.saved()
    machine.do(commands.install("node1", CUT, RULES, Loss(share)))
    machine.do(commands.standing("node1", CUT, RULES, Loss(share)))
    machine.refuse(commands.standing("node1", CUT, RULES, Loss(0.3)))
    machine.refuse(commands.standing("node1", CUT, RULES, "drop"))
    machine.do(remove())
    machine.do(gone())
    assert machine.saved() == before
