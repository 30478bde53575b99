"""A host's clock, and the time to start a shell there; from exchanges over a kept connection. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from chaosk.hosts.transport.clock import offset_of
from chaosk.run.preflight.diagnostic import Diagnostic, ok, warning
from chaosk.spec.command import Result

FAR = 0.1
"""Clock offset in seconds above which there is a warning."""
SLOW = 0.3
"""Maximum seconds for `true` on a kept connection."""


def clock(host: str, exchanges: Sequence[Result], epoch: int) -> Diagnostic:
    """Compare a host's clock with this machine's; ``epoch``: this machine's wall clock minus its monotonic clock."""
    found = offset_of(exchanges, epoch)
    off, error = found.offset / 1e9, found.error / 1e9
    if abs(off) - error <= FAR:
        return ok(host, "clock", f"{off:+.3f} s against this machine, ± {error:.3f} s")
    way = "ahead of" if off > 0 else "behind"
    return warning(
        host, "clock", f"{abs(off):.3f} s {way} this machine, ± {error:.3f} s",
        "set it by NTP (chronyc makestep), or this machine's: log files cannot be compared otherwise",
    )  # fmt: skip


def shell(host: str, exchanges: Sequence[Result]) -> Diagnostic:
    """Report the minimum time of a command on a host."""
    seconds = min(one.received - one.sent for one in exchanges) / 1e9
    seen = f"`true` takes {seconds:.3f} s on a kept connection"
    if seconds <= SLOW:
        return ok(host, "shell", seen)
    return warning(
        host, "shell", seen,
        "see what the start-up files of the login shell do (~/.bashrc, ~/.ssh/rc, /etc/profile.d): steps are as late",
    )  # fmt: skip
