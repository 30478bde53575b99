"""Spaces of sequences, and a cluster that is made up: what becomes of a run is a question to its scenario."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import sample_run
from sample_inventory import INVENTORY

from chaosk.campaign.explore.space import Space
from chaosk.campaign.explore.space_file import load_space
from chaosk.campaign.gate.child import Ended
from chaosk.campaign.gate.record import Attempt
from chaosk.document import load_scenario
from chaosk.planning import plan
from chaosk.rundir.paths import RunDir
from chaosk.rundir.verdict import Finding, Outcome, Severity, Verdict
from chaosk.spec.scenario import Scenario

SPACE = """\
name: A space
hypothesis: Nothing is lost.
variables: {most: 20s}
topics:
  orders: {partitions: 1, replication_factor: 3}
probes:
  writer: {produce: {topic: orders, rate: 200/s, config: {acks: 1, enable.idempotence: false}}}
explore:
  faults:
    - cut_network: {between: ["host(leader(orders, 0))", {any: ["host(followers(orders, 0))", everyone else]}]}
      for: {min: 5s, max: "${most}"}
    - kill_broker: {target: {any: ["leader(orders, 0)", "follower(orders, 0)"]}}
      when: isr_full(orders)
      for: {min: 1s, max: 9s}
    - pause_broker: {target: broker 1}
      for: {any: [2s, 4s]}
    - elect_leader: {topic: orders, election: preferred}
  count: {min: 2, max: 5}
  gap: {min: 1s, max: 3s}
  finally:
    - {name: whole, when: isr_full(orders), wait: {duration: 1s}}
settle: 2s
expect: {lost_records: 0}
"""
OVERLAPPING = SPACE.replace("  finally:\n", "  overlap: true\n  finally:\n")


def space(folder: Path, text: str = SPACE) -> Space:
    """The space in a text."""
    path = folder / "space.yaml"
    path.write_text(text, "utf-8")
    return load_space(path)


def steps(scenario: Scenario) -> list[str]:
    """What a scenario does, less what ends every sequence."""
    return [entry.kind for entry in scenario.timeline if entry.name.startswith("fault-")]


def passed() -> Verdict:
    """The verdict of a run in which all was well."""
    return sample_run.verdict()


def missed(metric: str = "lost_records") -> Verdict:
    """The verdict of a run that missed an objective and broke no rule, as a loss with acks=1 is judged."""
    objective = sample_run.objective(metric, "", 4.0, maximum=0.0, unit="records")
    return sample_run.verdict(verdict=Outcome.DEGRADED, found=Outcome.DEGRADED, objectives=(objective,))


def violated(*checks: str) -> Verdict:
    """The verdict of a run in which these checks found violations."""
    findings = tuple(
        Finding(check=check, rule="A4", title=check, severity=Severity.VIOLATION, count=1, evidence=())
        for check in checks
    )
    return sample_run.verdict(verdict=Outcome.VIOLATION, found=Outcome.VIOLATION, findings=findings)


def inconclusive() -> Verdict:
    """The verdict of a run whose evidence does not carry."""
    return sample_run.verdict(verdict=Outcome.INCONCLUSIVE, found=Outcome.INCONCLUSIVE)


Judge = Callable[[Scenario], Verdict | int]
"""What becomes of a scenario: its verdict, or the exit code of a run without one."""


class Cluster:
    """In place of `chaosk run`: reads the scenario as that does, and leaves the run directory of what became of it."""

    def __init__(self, folder: Path, judge: Judge, seconds: float = 60.0) -> None:
        """``folder``: of the exploration; every run takes ``seconds``."""
        self.folder, self.judge, self.seconds = folder, judge, seconds
        self.ran: list[Scenario] = []
        self.seeds: list[int] = []

    def __call__(self, attempt: Attempt, seed: int) -> Ended:
        """Run it."""
        return self.carried_out(Path(attempt.file), self.folder / "runs" / attempt.key, seed)

    def carried_out(self, file: Path, output: Path, seed: int) -> Ended:
        """Run a scenario's file."""
        scenario = load_scenario(file)
        self.ran.append(scenario)
        self.seeds.append(seed)
        told = self.judge(scenario)
        if isinstance(told, int):
            return Ended(told, self.seconds, f"ended with {told}")
        run = RunDir(output / "a" / f"{len(self.ran):04d}")
        sample_run.write_documents(run, told, sample_run.Shape())
        run.plan.write_text(plan.make(scenario, INVENTORY, "run-1", seed).to_json(), "utf-8")
        return Ended(told.exit_code, self.seconds, "")
