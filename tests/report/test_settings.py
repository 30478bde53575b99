"""Settings: what was run, as the plan says it, and how to run it again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sample_run import ns, verdict

from chaosk.planning.plan import installed_versions
from chaosk.report.settings import again, durations, flat, groups, identity, versions
from chaosk.report.source import Source, read
from chaosk.rundir.paths import RunDir


def test_documents_become_paths_and_values() -> None:
    """Nested keys with dots, lists of values with commas, lists of documents by number; nothing for what is empty."""
    document = {"a": {"b": 1, "c": {}}, "list": [1, "x"], "steps": [{"at": "1s"}, {"at": "2s"}], "no": None, "on": True}
    assert flat(document) == (
        ("a.b", "1"),
        ("list", "1, x"),
        ("steps[0].at", "1s"),
        ("steps[1].at", "2s"),
        ("on", "true"),
    )


def test_everything_that_decides_the_outcome_is_shown(source: Source) -> None:
    """Topics, probes, every entry of the timeline, the cluster's client settings, versions, time spent."""
    shown = {group.title: dict(group.pairs) for group in groups(source)}
    assert shown["Topic orders"]["config.min.insync.replicas"] == "2"
    assert shown["Probe writer"]["produce.config.acks"] == "all"
    assert shown["Timeline 1"]["kill_broker.target"] == "leader(orders, 0)"
    assert shown["Time spent"]["preflight"] == "1.2 s"
    assert shown["Versions"]["kafka"] == "3.9.2"


def test_secrets_are_shown_by_where_they_are(source: Source) -> None:
    """The plan holds references, and the report what the plan holds."""
    shown = {group.title: dict(group.pairs) for group in groups(source)}
    assert shown["Client settings of the cluster"] == {"sasl.password.env": "KAFKA_PASSWORD"}


def test_versions_are_those_of_the_plan() -> None:
    """As chaosk.planning.plan writes them down, not those of whoever makes the report."""
    told = dict(versions({"kafka": "3.9.2", "versions": installed_versions()}))
    assert {"kafka", "chaosk", "librdkafka", "pyspark"} <= set(told)


def test_a_run_is_named_by_when_where_and_seed(source: Source) -> None:
    """What a person needs to find it again."""
    named = dict(identity(source))
    assert (named["began"], named["seed"], named["cluster"]) == ("2026-09-21 14:13:20 UTC", "42", "lab")


def test_the_same_commands_run_and_judge_it_again(source: Source) -> None:
    """With the seed, so that random targets are the same."""
    assert again(source)[0] == "chaosk run SCENARIO.yaml --seed 42"
    assert [line.split()[1] for line in again(source)] == ["run", "analyze", "report"]


def test_a_folder_with_spaces_can_be_pasted(make_run: Callable[..., RunDir], tmp_path: Path) -> None:
    """Names are quoted for the shell."""
    folder = tmp_path / "my run; reboot"
    make_run().root.rename(folder)
    assert again(read(RunDir(folder)))[1] == "chaosk analyze 'my run; reboot'"


def test_without_a_plan_little_is_shown(make_run: Callable[..., RunDir]) -> None:
    """A damaged plan leaves the verdict's own facts, and no seed is made up."""
    run = make_run(verdict(wall=int(ns(0))))
    run.plan.unlink()
    source = read(run)
    assert [group.title for group in groups(source)] == ["Time spent"]
    assert "seed" not in dict(identity(source))
    assert not any("--seed" in line for line in again(source))


def test_durations_are_in_the_order_of_the_run() -> None:
    """As run.json lists them."""
    assert durations({"durations": {"preflight": 1.25, "audit": 0.5}}) == (("preflight", "1.2 s"), ("audit", "0.5 s"))
