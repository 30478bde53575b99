"""Executes deeds and evaluates facts: the one place where a step's words become commands, requests and signals."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass

import structlog

from chaosk.core.errors import ChaoskError, StepError
from chaosk.core.printable import printable
from chaosk.hosts.transport.ssh import Transport
from chaosk.run.clock import now, sleep_until, wait_for
from chaosk.spec.command import Command
from chaosk.spec.contracts.condition import Answer
from chaosk.spec.contracts.live import Live
from chaosk.spec.contracts.step import (
    AddPartitions,
    Configure,
    Deed,
    DeleteTopic,
    Elect,
    Fact,
    Look,
    MakeTopic,
    Names,
    Operation,
    Pause,
    Reassign,
    Run,
    Signal,
)
from chaosk.spec.entity import Settings
from chaosk.spec.expression import parse_condition
from chaosk.spec.inventory import Inventory

log = structlog.get_logger()


_ANSWERS = (0, 1)
"""Exit codes of a fact's yes and no; any other one means that it could not be evaluated."""


def _no_names(deed: Names) -> None:
    raise StepError(f"{deed.action}: probes have no names of their own here")


def _no_look(deed: Look) -> None:
    raise StepError(f"{deed.entry}: there is no run whose report could tell of it")


@dataclass(frozen=True, slots=True)
class Executor:
    """The environment of deeds and facts: hosts, the live cluster, its controller and the probes."""

    inventory: Inventory
    transport: Transport
    live: Live
    operate: Callable[[Operation], None]
    """Sends the controller a request; raises StepError if it refuses."""
    signal: Callable[[Signal], None]
    """Starts, stops or kills a probe; raises StepError on failure."""
    names: Callable[[Names], None] = _no_names
    """Changes the host names that probes resolve; raises StepError on failure."""

    look: Callable[[Look], None] = _no_look
    """Records the state of the cluster."""

    def do(self, deed: Deed, stop: threading.Event) -> str:
        """Execute one deed; return the output of its command, if it has one.

        Raises StepError with the reason of a failure, and Interrupted if ``stop`` is set.
        """
        match deed:
            case Run():
                return self._run(deed.command)
            case Elect() | Reassign() | Configure() | AddPartitions() | DeleteTopic() | MakeTopic():
                self.operate(deed)
            case Signal():
                self.signal(deed)
            case Names():
                self.names(deed)
            case Pause():
                sleep_until(now() + int(deed.seconds * 1e9), stop)
            case Look():
                self.look(deed)
            case Fact():
                self._await(deed, stop)
        return ""

    def ask(self, fact: Fact) -> Answer:
        """Evaluate a fact once. No answer does not confirm it: an unreachable host is a no, with the reason."""
        try:
            if isinstance(fact.query, str):
                return parse_condition(fact.query).ask(self.live, self.inventory)
            if isinstance(fact.query, Settings):
                return self._compare(fact.query)
            result = self.transport.run(fact.query)
        except ChaoskError as error:
            return Answer(holds=False, seen=str(error), answered=False)
        lines = (result.stdout + result.stderr).strip().splitlines()
        seen = "\n".join(map(printable, lines)) or f"status {result.exit_status}"
        return Answer(holds=result.ok, seen=seen, answered=result.exit_status in _ANSWERS)

    def _compare(self, wanted: Settings) -> Answer:
        found = self.live.settings(wanted.of)
        seen = Settings(of=wanted.of, values={name: found.get(name) for name in wanted.values})
        return Answer(holds=seen == wanted, seen=str(seen))

    def confirm(self, fact: Fact, stop: threading.Event) -> Answer:
        """Evaluate a fact until it holds, a no is certain, or its time is over; return the last answer."""
        answers: list[Answer] = []
        believed = math.inf

        def settled() -> bool:
            nonlocal believed
            answers.append(answer := self.ask(fact))
            if not answer.answered:
                believed = math.inf
            elif fact.doubt is not None:
                believed = min(believed, now() + fact.doubt * 1e9)
            return answer.holds or now() >= believed

        wait_for(settled, fact.within, stop)
        last = answers[-1].model_copy(update={"waited": len(answers) > 1})
        log.info("fact", says=fact.says, holds=last.holds, seen=last.seen)
        return last

    def _run(self, command: Command) -> str:
        result = self.transport.run(command)
        log.info(
            "command", host=command.host, command=command.brief, sudo=command.sudo, status=result.exit_status,
            stdout=result.stdout[-500:], stderr=result.stderr[-500:],
            host_started=result.host_started, host_ended=result.host_ended,
        )  # fmt: skip
        if not result.ok:
            raise StepError(f"{command.host}: `{command.brief}` ended with {result.exit_status}: {result.said}")
        return printable(result.stdout.strip())

    def _await(self, fact: Fact, stop: threading.Event) -> None:
        answer = self.confirm(fact, stop)
        if not answer.holds:
            raise StepError(f"not seen within {fact.within:g} s: {fact.says} ({answer.seen})")
