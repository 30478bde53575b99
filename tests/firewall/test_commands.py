"""The commands of a cut: what is the same for all, and what tells one cut from another."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chaosk.hosts.firewall import commands
from chaosk.hosts.firewall.rules import Rule

RULES = (Rule("I", peer="198.18.0.12"), Rule("I"))
name = st.from_regex(r"\A[a-z0-9]([a-z0-9_.-]{0,62}[a-z0-9])?\Z")
run_id = st.from_regex(r"\A[A-Za-z0-9._-]{1,64}\Z")


@given(run=run_id, entry=name)
def test_chain_names_fit(run: str, entry: str) -> None:
    """At most 28 characters of a chain's name and 255 of a comment are taken, both without spaces or quotes here."""
    cut = commands.cut(run, entry)
    assert len(f"{cut.chain}-I") <= 28
    assert len(cut.comment) <= 255
    assert not set(cut.chain + cut.comment) & set(" '\"\\\n$`")


@given(runs=st.lists(st.tuples(run_id, name), min_size=2, max_size=2, unique=True))
def test_every_entry_of_every_run_has_a_chain_of_its_own(runs: list[tuple[str, str]]) -> None:
    """So that one cut is never taken for another."""
    first, second = (commands.cut(*run) for run in runs)
    assert first.chain != second.chain


def test_rules_travel_by_standard_input() -> None:
    """The script is a constant; what differs is its arguments and its input."""
    cut = commands.cut("run", "entry")
    command = commands.install("node1", cut, RULES, "drop")
    assert command.argv[3:] == ("chaosk", "install", cut.chain, cut.comment, "auto")
    assert command.stdin == "4 I -s 198.18.0.12 -j DROP\nany I -j DROP\n"
    assert commands.remove("node1", cut).stdin is None
    assert commands.standing("node1", cut, RULES, "drop").stdin == command.stdin


def test_everything_runs_as_root_and_may_be_repeated() -> None:
    """A lost connection must not leave a cut in place that nobody knows of."""
    cut = commands.cut("run", "entry")
    every = [commands.install("node1", cut, RULES, "drop"), commands.standing("node1", cut, RULES, "drop")]
    every += [commands.remove("node1", cut), commands.gone("node1", cut)]
    assert all(command.sudo and command.repeatable and command.host == "node1" for command in every)


def test_what_cuts_a_host_is_told_to_it() -> None:
    """The inventory's choice goes with every command, the one that installs and the one that removes."""
    cut = commands.cut("run", "entry")
    every = [
        commands.install("node1", cut, RULES, "drop", "nft"),
        commands.standing("node1", cut, RULES, "drop", "nft"),
    ]
    every += [commands.remove("node1", cut, "nft"), commands.gone("node1", cut, "nft")]
    assert [command.argv[-1] for command in every] == ["nft"] * 4
