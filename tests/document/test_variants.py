"""Several experiments in one file: which there are, that each is a scenario of its own, and every mistake once."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sample_documents import SCENARIO, spoil, written

from chaosk.document import DocumentError, load_scenario, load_variants
from chaosk.document.variants import MOST
from chaosk.rundir.paths import slug
from chaosk.spec.expect import Expect

ROOT = Path(__file__).parents[2]
DECLARED = "  hold: 30s\n  count: 6\n"
LONG = "a" * 201


def with_block(block: str) -> str:
    """The sample with a block about its variables behind them."""
    return spoil(SCENARIO, DECLARED, f"{DECLARED}{block}\n")


def told(folder: Path, document: str, **sets: str) -> list[str]:
    """What is wrong with a file: the line, the path and the words."""
    with pytest.raises(DocumentError) as caught:
        load_variants(written(folder, document), sets)
    return [f"{each.line} {each.path}: {each.what}" for each in caught.value.problems]


def test_each_variant_is_a_scenario_of_its_own(tmp_path: Path) -> None:
    """As if it had been written alone: only its name and its variables tell that it was not."""
    every = load_variants(written(tmp_path, with_block("variants: {short: {hold: 5s}, wide: {count: 9}, plain: {}}")))
    assert list(every) == ["short", "wide", "plain"]
    for name, old, new in (("short", "hold: 30s", "hold: 5s"), ("wide", "count: 6", "count: 9"), ("plain", "a", "a")):
        alone = SCENARIO.replace(old, new, 1).replace("name: Kill the leader", f"name: Kill the leader ({name})", 1)
        assert every[name] == load_scenario(written(tmp_path, alone, "alone.yaml"))


def test_a_matrix_is_every_combination(tmp_path: Path) -> None:
    """In the order in which it is written, named by what differs, each value of the kind it is written in."""
    every = load_variants(written(tmp_path, with_block("matrix: {hold: [5s, 9s], count: [6, 7, 8]}")))
    assert list(every) == [f"hold={hold}, count={count}" for hold in ("5s", "9s") for count in (6, 7, 8)]
    assert every["hold=9s, count=7"].variables == {"hold": "9s", "count": 7}
    assert every["hold=9s, count=7"].name == "Kill the leader (hold=9s, count=7)"
    assert every["hold=9s, count=7"].timeline[0].lasts == 9.0


@given(st.lists(st.lists(st.integers(1, 99), min_size=1, max_size=3, unique=True), min_size=1, max_size=3))
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_two_combinations_are_one(tmp_path: Path, lists: list[list[int]]) -> None:
    """As many as the product of all lists, and as many different names and scenarios."""
    names = [f"v{number}" for number in range(len(lists))]
    document = yaml.safe_load(SCENARIO)
    document["variables"] |= dict.fromkeys(names, 1)
    document["tags"] = [f"t${{{name}}}" for name in names]
    document["matrix"] = dict(zip(names, lists, strict=True))
    every = load_variants(written(tmp_path, yaml.safe_dump(document)))
    count = 1
    for each in lists:
        count *= len(each)
    assert len(every) == count
    assert len({scenario.tags for scenario in every.values()}) == count
    assert len({scenario.name for scenario in every.values()}) == count


def test_a_file_without_variants_is_one_scenario(tmp_path: Path) -> None:
    """Under no name; nothing of it changes."""
    path = written(tmp_path, SCENARIO)
    assert load_variants(path) == {"": load_scenario(path)}


def test_one_of_them_by_name(tmp_path: Path) -> None:
    """Which has to be said, and rightly."""
    path = written(tmp_path, with_block("variants: {short: {hold: 5s}, plain: {}}"))
    assert load_scenario(path, variant="short").timeline[0].lasts == 5.0
    with pytest.raises(DocumentError, match="holds variants; name one of them with --variant: `short`, `plain`"):
        load_scenario(path)
    with pytest.raises(DocumentError, match=r"there is no variant 'shrot'; did you mean 'short'\?"):
        load_scenario(path, variant="shrot")
    with pytest.raises(DocumentError, match="has no variants, so --variant short names none; leave it out"):
        load_scenario(written(tmp_path, SCENARIO), variant="short")


def test_set_changes_what_they_have_in_common(tmp_path: Path) -> None:
    """In every variant; what they differ in is chosen by their names."""
    document = with_block("variants: {short: {hold: 5s}, plain: {}}")
    every = load_variants(written(tmp_path, document), {"count": "9"})
    assert [one.topics["orders"].partitions for one in every.values()] == [9, 9]
    assert told(tmp_path, document, hold="7s") == [
        "1 : --set hold=7s: it is 'hold' that the variants differ in; choose with --variant: `short`, `plain`"
    ]


def test_a_mistake_is_told_with_the_variants_that_have_it(tmp_path: Path) -> None:
    """Once, wherever it is: what is wrong in some of them only, and what is wrong in all."""
    duration = "is not a duration; write a number and a unit, like 250ms, 30s, 2m or 1h"
    document = with_block("variants: {a: {hold: 60}, b: {}, c: {hold: 60, count: 0}}")
    assert told(tmp_path, spoil(document, "settle: 20s", "settle: 20")) == [
        "12 topics.orders.partitions: the number 0 is too small; write at least 1 (${count} is 0) (in variant `c`)",
        f"25 timeline[0].for: 60 {duration} (${{hold}} is 60) (in variants `a`, `c`)",
        f"41 settle: 20 {duration}",
    ]


def test_of_many_variants_some_are_named(tmp_path: Path) -> None:
    """A message stays one that can be read."""
    document = with_block("matrix: {hold: [60], count: [1, 2, 3, 4, 5, 6, 7, 8]}")
    (only,) = told(tmp_path, document, hold="5s")
    assert only.endswith("`hold=60, count=5` and 3 more")


@pytest.mark.parametrize(
    ("block", "says"),
    [
        ("variants: {}", "7 variants: a mapping is too short; write at least 1"),
        ("matrix: {}", "7 matrix: a mapping is too short; write at least 1"),
        ("matrix: {hold: []}", "7 matrix.hold: a list is too short; write at least 1"),
        ("matrix: {hold: 5s}", "7 matrix.hold: must be a list, not '5s'; write [5s]"),
        ("variants: [a]", "7 variants: must be a mapping, not a list; write {key: value}"),
        ("variants: {a: {hold: [5s]}, b: {}}",
         "7 variants.a.hold: must be a single value, not a list; write one word or number"),
        ("variants:\n  a:\n  b: {}", "8 variants.a: has no value; write one, or remove the key"),
        ("variants:\n  a: {}\n  A b: {hold: 5s}",
         "9 variants.A b: 'A b' does not fit; write a name of lower-case letters, digits, - _ and ., like node1"),
        ("variants:\n  a: {hodl: 5s}\n  b: {}", "8 variants.a.hodl: there is no variable 'hodl'; did you mean 'hold'?"),
        ("matrix: {hodl: [5s]}", "7 matrix.hodl: there is no variable 'hodl'; did you mean 'hold'?"),
        ("variants: {a: {hold: '${count}'}, b: {}}",
         "7 variants.a.hold: a variable cannot use another; write its value"),
        (f"matrix: {{hold: [5s, {LONG}]}}", "7 matrix.hold[1]: is longer than 200 characters; write a shorter value"),
        ("matrix: {count: [6, 7, 6]}", "7 matrix.count[2]: '6' is here twice; keep one of them"),
        ("variants:\n  a: {}\n  b: {count: 6}",
         "9 variants.b: does the same as 'a'; give it other values, or remove one of them"),
        ("variants: {a: {}}\nmatrix: {hold: [5s]}",
         "8 matrix: `variants` and `matrix` in one file; keep one of them"),
        (f"matrix: {{count: [{', '.join(map(str, range(1, MOST + 2)))}]}}",
         "7 matrix: more than 50 variants; write fewer, or several files"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_them(tmp_path: Path, block: str, says: str) -> None:
    """One mistake is one message, where it is."""
    assert told(tmp_path, with_block(block)) == [says]


def test_two_combinations_of_one_name(tmp_path: Path) -> None:
    """A comma in a value could make two of them look alike."""
    document = with_block('matrix: {a: [x, "x, b=y"], b: [z, "y, b=z"]}')
    document = document.replace("count: 6\n", "count: 6\n  a: q\n  b: q\n", 1) + 'tags: ["${a}${b}"]\n'
    says = "two variants are called 'a=x, b=y, b=z'; write values without commas"
    assert told(tmp_path, document) == [f"9 matrix: {says}"]


def test_a_name_too_long_with_that_of_the_variant(tmp_path: Path) -> None:
    """It names folders and baselines, so it is not cut."""
    document = spoil(with_block("variants: {short: {hold: 5s}, x: {}}"), "name: Kill the leader", f"name: {'k' * 115}")
    (only,) = told(tmp_path, document)
    assert "is too long; write at most 120 characters (with the variant's name behind it) (in variant `short`)" in only


@pytest.mark.parametrize("text", ["{b: [1, 2]}, !!evil &a *b", "$(touch canary)", "../../etc", "[bold]x[/]", "a\tb"])
def test_a_value_stays_a_value(tmp_path: Path, text: str) -> None:
    """In the name of its variant too, of which folders and ids are made."""
    document = yaml.safe_load(SCENARIO) | {"tags": ["${x}"], "matrix": {"x": [text, "other"]}}
    document["variables"]["x"] = "default"
    every = load_variants(written(tmp_path, yaml.safe_dump(document)))
    assert every[f"x={text}"].tags == (text,)
    assert every[f"x={text}"].name == f"Kill the leader (x={text})"
    assert re.fullmatch(r"kill-the-leader-x[a-z0-9-]*", slug(every[f"x={text}"].name))


def test_the_scenario_of_the_pair_differs_in_its_variables_alone() -> None:
    """Both halves of the experiment that chaosk comes with, and what each predicts."""
    without, retried = load_variants(ROOT / "scenarios/brokers/retries.yaml").values()
    assert without.model_copy(update={"name": "", "variables": {}, "probes": {}, "expect": Expect()}) == (
        retried.model_copy(update={"name": "", "variables": {}, "probes": {}, "expect": Expect()})
    )
    bounds = [one.expect.bounds["uncertain_records"][""][0] for one in (without, retried)]
    assert [(one.min, one.max) for one in bounds] == [(100.0, 10_000.0), (0.0, 0.0)]


def test_many_variants_of_a_large_file_are_refused_soon(tmp_path: Path) -> None:
    """Each of them is checked as a whole, so their number and the file's size have a limit together."""
    lots = "".join(f"  - k{number}\n" for number in range(2000))
    document = with_block(f"matrix: {{count: [{', '.join(map(str, range(1, MOST + 1)))}]}}")
    document = document.replace("settle: 20s\n", f"settle: 20s\ntags:\n{lots}")
    began = time.process_time()
    (only,) = told(tmp_path, document)
    assert "50 variants of" in only
    assert "values are more than 10000 values in all; write fewer, or several files" in only
    assert time.process_time() - began < 2.0


def test_a_matrix_of_nothing_is_refused_soon(tmp_path: Path) -> None:
    """However long its other lists are."""
    numbers = ", ".join(map(str, range(9000)))
    began = time.process_time()
    assert told(tmp_path, with_block(f"matrix: {{hold: [], count: [{numbers}]}}")) == [
        "7 matrix.hold: a list is too short; write at least 1"
    ]
    assert time.process_time() - began < 2.0


def test_as_many_variants_as_there_may_be(tmp_path: Path) -> None:
    """Each with many values of its own, which do not count for the others."""
    names = [f"v{number}" for number in range(20)]
    document = yaml.safe_load(SCENARIO) | {"tags": [f"${{{name}}}" for name in names]}
    document["variables"] |= dict.fromkeys(names, "x")
    document["variants"] = {f"n{number}": dict.fromkeys(names, f"y{number}") for number in range(MOST)}
    assert len(load_variants(written(tmp_path, yaml.safe_dump(document)))) == MOST
