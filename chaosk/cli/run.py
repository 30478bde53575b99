"""``chaosk run``: one experiment on a real cluster, and its verdict."""

from __future__ import annotations

import os
import secrets
import signal
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console

from chaosk import report
from chaosk.cli._folders import new_folder
from chaosk.cli._gameday import game_day_options, options_of
from chaosk.cli._outlet import lasting_output
from chaosk.cli._sets import set_option, sets_of
from chaosk.cli._variants import chosen, variant_option
from chaosk.core.errors import AnalysisError, ExitCode, UsageError
from chaosk.core.files import keep_private
from chaosk.planning import plan as plans
from chaosk.planning.plan import Plan
from chaosk.probes.worker.lifeline import watch_parent
from chaosk.run.analyst import Analyst
from chaosk.run.breakdown import sentence
from chaosk.run.cluster_choice import settle_on
from chaosk.run.display import Display, PlainDisplay, TerminalDisplay
from chaosk.run.engine import Engine
from chaosk.run.environment import Environment
from chaosk.run.log import logging_to
from chaosk.run.signals import heard
from chaosk.rundir.paths import RunDir, create, slug
from chaosk.rundir.record import RunRecord
from chaosk.rundir.verdict import Verdict
from chaosk.spec.scenario import Scenario

if TYPE_CHECKING:
    from chaosk.run.gameday.session import Options, Session


@click.command()
@click.argument("scenario", type=click.Path(path_type=Path))
@click.option(
    "--inventory", type=click.Path(path_type=Path), help="Inventory of the cluster. Default: a lab on this machine."
)
@set_option
@variant_option
@click.option("--output", type=click.Path(path_type=Path), default=Path("reports"), help="Folder for run directories.")
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), help="Seed of all random choices.")
@game_day_options
@click.option("--lab", hidden=True, help="What the lab is called that is put up, if not by its shape.")
@click.option("--lifeline", is_flag=True, hidden=True, help="Ends and heals once its input, a pipe, is closed.")
def command(  # noqa: PLR0913 - one for each option
    *,
    scenario: Path,
    inventory: Path | None,
    assignments: tuple[str, ...],
    variant: str | None,
    output: Path,
    seed: int | None,
    lab: str | None,
    lifeline: bool,
    **game_day: Any,  # noqa: ANN401 - an option of each kind
) -> int:
    """Run SCENARIO: inject its faults while probes work, heal the cluster, and judge the recorded events.

    A file with variants runs all of them in turn, with one report over all; --variant selects one.
    Ends with 0 pass, 1 fail, 2 inconclusive, 3 a fault could not be healed.
    """
    options = options_of(game_day)
    if lifeline:
        watch_parent(lambda: os.kill(os.getpid(), signal.SIGTERM), in_time=False)
    sets = sets_of(assignments)
    every = chosen(scenario, sets, variant)
    if options is not None and len(every) > 1:
        raise UsageError(f"{scenario}: --game-day runs one variant at a time; choose it with --variant")
    with lasting_output():
        if len(every) > 1:
            return _run_all(scenario, inventory, sets, output, seed)
        return _run(every[0], (inventory, lab), output, (seed, options))


def _run_all(path: Path, inventory: Path | None, sets: Mapping[str, str], output: Path, seed: int | None) -> int:
    """Run every variant separately, regardless of the others' results; return the worst exit code."""
    from chaosk.campaign.gate.choice import choose  # noqa: PLC0415 - as above
    from chaosk.cli._gate_run import begun, play  # noqa: PLC0415 - one run needs none of it

    inventories = () if inventory is None else (inventory,)
    gate = begun(choose([path], sets, (), (1, 1)), inventories, keep_going=True, seed=seed)
    return play(gate, new_folder(output, "gate"))


def _run(
    loaded: Scenario, where: tuple[Path | None, str | None], output: Path, how: tuple[int | None, Options | None]
) -> int:
    """Run one experiment and write its report; return the exit code.

    ``where``: the inventory, or without one the lab's name; ``how``: the seed and the game day, if any.
    """
    seed, options = how
    console, durations, stop = Console(), dict[str, float](), threading.Event()
    with ExitStack() as shown:
        display = shown.enter_context(_display(console)) if options is None else PlainDisplay(console)
        with _timed(durations, "lab"):
            found = settle_on(where[0], loaded, display.say, where[1])
        # its threads start only now: a process with threads cannot enter a lab's network
        session = None if options is None else shown.enter_context(_session(options, loaded.name, stop))
        display = display if session is None else session.console
        keep_private()
        run_id = f"{slug(loaded.name)[:40]}-{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}-{secrets.token_hex(3)}"
        plan = plans.make(loaded, found, run_id, secrets.randbits(32) if seed is None else seed)
        rundir, record = _experiment(plan, output, display, durations, (stop, session))
        if not record.interrupted:
            with _timed(durations, "report"):
                display.say("writing the report")
                report.write(rundir)
    if record.interrupted:
        raise _Interrupted(rundir, record)
    verdict = Verdict.model_validate_json(rundir.verdict.read_text("utf-8"))
    console.print(sentence(durations), style="dim", highlight=False)
    console.print(report.summary(verdict, rundir), soft_wrap=True)  # a path that can be copied
    return verdict.exit_code


def _session(options: Options, scenario: str, stop: threading.Event) -> Session:
    from chaosk.run.gameday.session import Session  # noqa: PLC0415 - only for a game day

    return Session(options, scenario, stop)


class _Interrupted(click.exceptions.Exit):
    """Ends the command with the documented code after an interruption, and reports whether the cluster is healed."""

    def __init__(self, rundir: RunDir, record: RunRecord) -> None:
        healed = "everything was healed" if record.healed else f"NOT HEALED: {'; '.join(record.not_healed)}"
        why = record.error if record.error and record.error.startswith("interrupted") else "interrupted"
        click.echo(f"{why}; {healed}; the events so far are in {rundir.root}", err=True)
        super().__init__(ExitCode.INTERRUPTED if record.healed else ExitCode.NOT_HEALED)


def _experiment(
    plan: Plan, output: Path, display: Display, durations: dict[str, float],
    ending: tuple[threading.Event, Session | None],
) -> tuple[RunDir, RunRecord]:  # fmt: skip
    """Execute preflight, run and judgement: ``verdict.json`` exists afterwards unless the run was interrupted.

    ``ending``: the event that stops and heals the run, and the game day that may set it.
    """
    stop, session = ending

    def lost(why: str) -> None:
        display.say(f"ending the run and healing all faults: {why}")
        stop.set()

    def leave() -> None:
        where = f"--inventory, or {rundir.root}" if rundir else "--inventory"
        longest = plan.inventory.longest_lease
        if session is not None:
            session.console.close()
        click.echo(
            f"left while healing: each host heals itself within {longest:g} s; now: chaosk heal {where}", err=True
        )
        os._exit(ExitCode.NOT_HEALED)  # no exit handler may wait for a host

    rundir: RunDir | None = None
    decider = None if session is None else session.desk
    tell = () if decider is None else (decider.hear,)
    with Environment(plan, lost) as field, heard(stop, display.say, leave, *tell):
        with _timed(durations, "preflight"):
            field.preflight(display)
        rundir = create(output.resolve(), plan.scenario.name)
        rundir.plan.write_text(plan.to_json(), "utf-8")
        with logging_to(rundir.log), nullcontext() if session is None else session.watching(field, rundir):
            record, analyst = Engine(plan, field, rundir, display, stop, decider).run()
        durations.update(record.durations)
    if not record.interrupted:
        with _timed(durations, "analysis"):
            display.say("judging")
            _judge(rundir, analyst)
    elif analyst is not None:
        analyst.close()
    return rundir, record


def _judge(rundir: RunDir, analyst: Analyst | None) -> None:
    worker = analyst or Analyst(rundir)
    try:
        worker.judge()
    finally:
        worker.close()
    if not rundir.verdict.exists():
        raise AnalysisError(f"{rundir.root}: the analysis left no verdict; run: chaosk analyze {rundir.root}")


@contextmanager
def _timed(durations: dict[str, float], phase: str) -> Iterator[None]:
    began = time.monotonic()
    try:
        yield
    finally:
        durations[phase] = round(time.monotonic() - began, 3)


@contextmanager
def _display(console: Console) -> Iterator[Display]:
    if console.is_terminal:
        with TerminalDisplay(console) as display:
            yield display
    else:
        yield PlainDisplay(console)
