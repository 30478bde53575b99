"""Kill brokers with SIGKILL, or have the kernel do it for their memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import ClassVar, Literal

from chaosk.hosts.commands import oom
from chaosk.spec.command import Command
from chaosk.spec.contracts.step import Deed, Fact, Run, Site
from chaosk.spec.inventory import Inventory, ServerProcess
from chaosk.steps._own_kernel import shared
from chaosk.steps._server import SOON, Role
from chaosk.steps._service_steps import Kill


class KillBroker(Kill):
    """Kill a broker's process with SIGKILL: no goodbye, its connections are closed by the operating system.

    It takes once the process is gone and nothing listens in its place. Its supervisor is kept from starting it again
    while the fault lasts; another that does is noticed. The undo starts it and waits until it serves. With `restart:
    supervised` it is left to its supervisor, and has to run again when the fault is over. With `how: oom_killer` the
    host's kernel kills it, as if it were short of memory (sysrq f, the broker being its likeliest victim): it takes
    once the kernel's log says so as well. For hosts with kernels of their own only.
    """

    role: ClassVar[Role] = "broker"
    example: ClassVar[str] = """\
at: 10s
kill_broker: {target: "leader(orders, 0)"}
for: 30s
"""

    how: Literal["sigkill", "oom_killer"] = "sigkill"
    """Who kills it: ``sigkill`` a signal of ours, ``oom_killer`` the kernel, for its memory."""

    def refused(self, inventory: Inventory, host: str) -> str | None:
        """A kernel that is not the host's own would look for its victim on the whole machine."""
        return shared(inventory, host) if self.how == "oom_killer" else None

    def suits(self, site: Site) -> Iterator[Fact]:
        """The kernel would kill it, and no other process; and it can be held down."""
        yield from super().suits(site)
        for name, query in self._asked(site, oom.fits):
            yield Fact(says=f"the kernel would kill {name}, short of memory", query=query)

    def kill(self, site: Site) -> Iterator[Deed]:
        """The signal, or a word to the kernel."""
        if self.how == "sigkill":
            yield from super().kill(site)
        for _, command in self._asked(site, oom.kill):
            yield Run(command=command)

    def verify(self, site: Site) -> Iterator[Fact]:
        """It is gone, and for the reason that was asked for."""
        yield from super().verify(site)
        for name, query in self._asked(site, oom.is_killed):
            says = f"the kernel has killed {name}, short of memory"
            yield Fact(says=says, query=query, within=SOON, steady=False)

    def undo(self, site: Site) -> Iterator[Deed]:
        """Start what does not run; what lives all the same is as likely a victim as it was."""
        for _, command in self._asked(site, oom.spare):
            yield Run(command=command)
        yield from super().undo(site)

    def healed(self, site: Site) -> Iterator[Fact]:
        """It runs and serves."""
        for name, query in self._asked(site, oom.is_spared):
            yield Fact(says=f"{name} is no likelier to be killed than before", query=query)
        yield from super().healed(site)

    def _asked(self, site: Site, ask: Callable[[ServerProcess, str, str], Command]) -> Iterator[tuple[str, Command]]:
        """By name of each broker the command; none where a signal does it."""
        if self.how == "oom_killer":
            for server in self.servers(site):
                yield server.name, ask(server.process, site.boot_id, self._lease(site))
