"""Spaces of sequences: right ones are read, and every mistake is told at its place, also in what is only drawn."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from sample_documents import SCENARIO, spoil, written
from sample_explore import SPACE, space

from chaosk.campaign.explore.space import Choice, Span
from chaosk.campaign.explore.space_file import load_space
from chaosk.document import DocumentError, load_scenario
from chaosk.document.kinds import is_inventory, is_space

ROOT = Path(__file__).parents[2]
SHIPPED = sorted((ROOT / "scenarios" / "explore").glob("*.yaml"))


def complaints(folder: Path, text: str) -> list[str]:
    """What is wrong with a space, each as ``line: path: what``."""
    with pytest.raises(DocumentError) as error:
        load_space(written(folder, text))
    return [f"{one.line}: {one.path}: {one.what}" for one in error.value.problems]


def test_what_is_in_it(tmp_path: Path) -> None:
    """Faults with their choices and durations, and what all sequences have in common, without variables."""
    told = space(tmp_path)
    cut, kill, pause, elect = told.faults
    assert cut.choices == (Choice(("cut_network", "between", 1), ("host(followers(orders, 0))", "everyone else")),)
    assert (cut.lasts, elect.lasts) == (Span.model_validate({"min": "5s", "max": "20s"}), None)
    assert kill.choices[0].options == ("leader(orders, 0)", "follower(orders, 0)")
    assert pause.choices == (Choice(("for",), ("2s", "4s")),)
    assert (told.name, told.explore.count.max, told.explore.gap.min, told.explore.overlap) == ("A space", 5, 1.0, False)
    assert "variables" not in told.scenario
    assert list(told.scenario)[-3:] == ["explore", "settle", "expect"]


def test_what_can_be_left_out(tmp_path: Path) -> None:
    """How many, how far apart, what ends it; a single number or duration is exactly that."""
    head, _, rest = SPACE.partition("  count:")
    least = f"{head}{rest[rest.index('settle') :]}"
    told = space(tmp_path, least).explore
    assert (told.count.min, told.count.max, told.gap.min, told.gap.max, told.last) == (1, 3, 2.0, 10.0, ())
    exact = space(tmp_path, least.replace("explore:\n", "explore:\n  count: 2\n  gap: 3s\n")).explore
    assert (exact.count.min, exact.count.max, exact.gap.min, exact.gap.max) == (2, 2, 3.0, 3.0)


def test_variables_are_those_of_scenarios(tmp_path: Path) -> None:
    """Given on the command line they are checked like those in the file."""
    path = written(tmp_path, SPACE)
    assert load_space(path, {"most": "6s"}).faults[0].lasts == Span.model_validate({"min": "5s", "max": "6s"})
    with pytest.raises(DocumentError, match=r"explore.faults\[0\].for.max: '6' is not a duration.*--set most=6"):
        load_space(path, {"most": "6"})
    with pytest.raises(DocumentError, match="min is more than max"):
        load_space(path, {"most": "4s"})


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("name: A space", f"name: {'x' * 61}", "1: name: is too long for seed and round behind it"),
        ("settle: 2s", "settle: 2", "22: settle: 2 is not a duration"),
        ("settle: 2s", "setle: 2s", "22: setle: there is no 'setle' here; did you mean 'settle'?"),
        ("settle: 2s", "timeline: []", "22: timeline: `explore` draws the timeline"),
        ("settle: 2s", "matrix: {most: [6s]}", "22: matrix: `matrix` beside `explore`"),
        ("lost_records: 0", "lost_record: 0", "23: expect.lost_record: there is no 'lost_record'"),
        ("most: 20s", "most: 20", "11: explore.faults[0].for.max: 20 is not a duration"),
        ("${most}", "${more}", "11: explore.faults[0].for.max: there is no variable 'more'"),
        ('{any: ["host(followers(orders, 0))", everyone else]}', "{any: [everyone else, nobody else]}",
         "10: explore.faults[0].cut_network.between[1].any[1]: 'nobody else'"),
        ('"follower(orders, 0)"', '"follower(orders, 1)"',
         "12: explore.faults[1].kill_broker.target.any[1]: 'follower(orders, 1)': there is no partition 1"),
        ("when: isr_full(orders)\n      for", "when: isr_ful(orders)\n      for", "13: explore.faults[1].when"),
        ("any: [2s, 4s]", "any: [2s, 4]", "16: explore.faults[2].for.any[1]: 4 is not a duration"),
        ("any: [2s, 4s]", "any: []", "16: explore.faults[2].for.any: must be a list of values to choose from"),
        ("any: [2s, 4s]", "any: 2s", "16: explore.faults[2].for.any: must be a list of values to choose from"),
        ("any: [2s, 4s]", "any: [{any: [2s]}]", "16: explore.faults[2].for.any[0]: `any` inside another"),
        ("any: [2s, 4s]", "any: [2s], min: 1s", "16: explore.faults[2].for: `any` with other keys beside it"),
        ("any: [2s, 4s]", "min: 4s", "16: explore.faults[2].for: 'max' is missing"),
        ("any: [2s, 4s]", "min: 4s, mx: 5s", "16: explore.faults[2].for.mx: there is no 'mx' here"),
        ("      for: {any: [2s, 4s]}\n", "", "15: explore.faults[2]: pause_broker without `for`"),
        ("      for: {any: [2s, 4s]}", "      at: 3s\n      for: 2s", "16: explore.faults[2].at: `at` is drawn"),
        ("      for: {any: [2s, 4s]}", "      name: x\n      for: 2s", "16: explore.faults[2].name: `name` is drawn"),
        ("- pause_broker: {target: broker 1}", "- pause_brokr: {target: broker 1}",
         "15: explore.faults[2].pause_brokr: there is no 'pause_brokr'"),
        ("- elect_leader: {topic: orders, election: preferred}", "- {repeat: 3, entries: []}",
         "17: explore.faults[3]: `repeat` cannot be drawn"),
        ("- elect_leader: {topic: orders, election: preferred}", "- {any: [a, b]}",
         "17: explore.faults[3].any: `any` in place of a fault"),
        ("- elect_leader: {topic: orders, election: preferred}", "- 5", "17: explore.faults[3]: must be a mapping"),
        ("election: preferred}", "election: preferred}\n      for: 2s", "18: explore.faults[3].for: elect_leader"),
        ("count: {min: 2, max: 5}", "count: {min: 5, max: 2}", "18: explore.count: min is more than max"),
        ("count: {min: 2, max: 5}", "count: 21", "18: explore.count: the number 21 is too large; write at most 20"),
        ("gap: {min: 1s, max: 3s}", "gap: 3", "19: explore.gap: 3 is not a duration"),
        ("gap: {min: 1s, max: 3s}", "overlap: no", "19: explore.overlap: must be true or false"),
        ("gap: {min: 1s, max: 3s}", "gab: 3s", "19: explore.gab: there is no 'gab' here; did you mean 'gap'?"),
        ("{name: whole, when", "{name: whole, at: 3s, when", "21: explore.finally[0].at: `at` would be the same"),
        ("{name: whole, when", "{name: whole, after: fault-1, when", "21: explore.finally[0].after: 'fault-1'"),
        ("{name: whole, when: isr_full(orders)", "{name: whole, when: isr_full(order)",
         "21: explore.finally[0].when: 'isr_full(order)': there is no topic 'order'"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_at_its_place(tmp_path: Path, old: str, new: str, says: str) -> None:
    """Its line, its path in the file, and what to write."""
    found = complaints(tmp_path, spoil(SPACE, old, new))
    assert any(one.startswith(says) for one in found), found


def test_every_mistake_at_once(tmp_path: Path) -> None:
    """One in what is common, one in a value that is hardly ever drawn, one in how it is drawn: three complaints."""
    text = SPACE.replace("settle: 2s", "settle: 2").replace("follower(orders, 0)", "folower(orders, 0)")
    found = complaints(tmp_path, text.replace("min: 1s, max: 3s", "min: 4s, max: 3s"))
    assert [one.split(": ")[1] for one in found] == [
        "explore.faults[1].kill_broker.target.any[1]",
        "explore.gap",
        "settle",
    ]


def test_too_many_values_are_refused(tmp_path: Path) -> None:
    """Each of them is looked at, which takes its time."""
    many = ", ".join(f"broker {number}" for number in range(201))
    (found,) = complaints(tmp_path, spoil(SPACE, "{target: broker 1}", f"{{target: {{any: [{many}]}}}}"))
    assert found == "10: explore.faults: more than 200 values to choose from; write fewer"


def test_a_space_and_a_scenario_are_told_apart(tmp_path: Path) -> None:
    """Each is refused where the other is wanted, with the command that takes it."""
    space_, scenario = written(tmp_path, SPACE, "space.yaml"), written(tmp_path, SCENARIO, "scenario.yaml")
    assert (is_space(space_), is_inventory(space_)) == (True, False)
    assert not is_space(scenario)
    with pytest.raises(
        DocumentError, match=r"space.yaml:8:1: explore: is a space .* chaosk explore .*space.yaml --draw"
    ):
        load_scenario(space_)
    with pytest.raises(DocumentError, match=r"scenario.yaml:1:1: has no `explore`.*chaosk run FILE"):
        load_space(scenario)


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_what_is_shipped_is_right(path: Path) -> None:
    """The spaces of this repository."""
    assert load_space(path).faults


def test_what_the_page_shows_is_right(tmp_path: Path) -> None:
    """What a reader of docs/explore.md copies first is accepted as it stands."""
    (shown,) = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs" / "explore.md").read_text("utf-8"), re.DOTALL)
    assert space(tmp_path, shown).faults


def test_there_are_shipped_ones() -> None:
    """One that finds a loss, and one in which there is none to be found."""
    assert [path.stem for path in SHIPPED] == ["acks-all", "acks1"]
