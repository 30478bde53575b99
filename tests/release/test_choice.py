"""Which scenarios a gate runs."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from sample_documents import INVENTORY, SCENARIO
from sample_explore import SPACE

from chaosk.campaign.gate.choice import choose
from chaosk.core.errors import UsageError

ALL = (1, 1)


def write(folder: Path, stem: str, **changes: object) -> Path:
    """A scenario file; without another name it is called like its file."""
    folder.mkdir(parents=True, exist_ok=True)
    document = yaml.safe_load(SCENARIO) | {"name": stem.capitalize(), **changes}
    path = folder / f"{stem}.yaml"
    path.write_text(yaml.safe_dump(document, sort_keys=False), "utf-8")
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three scenarios, one of them deeper, an inventory, a space of sequences and something else."""
    write(tmp_path, "beta", tags=["slow"], covers=["C1"])
    write(tmp_path, "alpha", tags=["quick"], covers=["C2", "C3"])
    write(tmp_path / "deeper", "gamma", tags=["slow"], covers=["C3", "H/pause"])
    (tmp_path / "cluster.yaml").write_text(INVENTORY, "utf-8")
    (tmp_path / "deeper" / "space.yaml").write_text(SPACE, "utf-8")
    (tmp_path / "notes.txt").write_text("none", "utf-8")
    return tmp_path


def names(*paths: Path, only: tuple[str, ...] = (), shard: tuple[int, int] = ALL) -> list[str]:
    """What is chosen, by name."""
    return [one.scenario.name for one in choose(paths, {}, only, shard)]


def test_a_folder_is_all_its_scenarios(folder: Path) -> None:
    """By path, those of its folders too; an inventory beside them is none, nor is a space; a file is taken once."""
    assert names(folder) == ["Alpha", "Beta", "Gamma"]
    assert names(folder / "beta.yaml", folder) == ["Beta", "Alpha", "Gamma"]


@pytest.mark.parametrize(
    ("only", "found"),
    [(("slow",), "Beta Gamma"), (("C3",), "Alpha Gamma"), (("al*", "C1"), "Alpha Beta"), (("gamma",), "Gamma"),
     (("H/pause",), "Gamma"), (("H",), "Gamma")],
)  # fmt: skip
def test_words_narrow_it(folder: Path, only: tuple[str, ...], found: str) -> None:
    """A tag, an id that it covers or its part before a slash, or a pattern of file names; several words are any."""
    assert names(folder, only=only) == found.split()


def test_shards_are_all_of_it_once(folder: Path) -> None:
    """Every scenario is in exactly one part."""
    parts = [names(folder, shard=(part, 2)) for part in (1, 2)]
    assert parts == [["Alpha", "Gamma"], ["Beta"]]


@pytest.mark.parametrize(
    ("only", "shard", "says"),
    [(("nightly",), ALL, "none of 3 scenarios has such a tag"), ((), (4, 4), "this part is empty; ask for fewer")],
)
def test_nothing_is_never_chosen(folder: Path, only: tuple[str, ...], shard: tuple[int, int], says: str) -> None:
    """A gate of nothing would pass."""
    with pytest.raises(UsageError, match=says):
        names(folder, only=only, shard=shard)


def test_an_empty_folder(tmp_path: Path) -> None:
    """As above; an inventory is no scenario."""
    (tmp_path / "cluster.yaml").write_text(INVENTORY, "utf-8")
    with pytest.raises(UsageError, match=r"there is no scenario in it \(\*\.yaml\)"):
        names(tmp_path)


def test_two_of_one_name(folder: Path) -> None:
    """Their reports and their baselines would be one."""
    write(folder, "delta", name="Alpha")
    with pytest.raises(UsageError, match=r"delta\.yaml and .*alpha\.yaml have the same name, 'Alpha'; rename one"):
        names(folder)


def test_mistakes_of_all_files_at_once(folder: Path) -> None:
    """Before anything is run: each with its file."""
    write(folder, "bad", topics=1)
    write(folder, "worse", timeline=2)
    with pytest.raises(UsageError) as told:
        names(folder)
    assert "bad.yaml" in str(told.value)
    assert "worse.yaml" in str(told.value)


def test_variables_go_to_those_that_have_them(folder: Path) -> None:
    """And what nobody has is a mistake."""
    variables = yaml.safe_load(SCENARIO)["variables"]
    write(folder, "beta", variables={**variables, "pause": "5s"}, settle="${pause}")
    chosen = choose([folder], {"pause": "7s"}, (), ALL)
    found = {one.scenario.name: (one.scenario.settle, dict(one.sets)) for one in chosen}
    assert found["Beta"] == (7.0, {"pause": "7s"})
    assert found["Alpha"][1] == {}
    with pytest.raises(UsageError, match="--set paws: none of the scenarios has a variable of that name"):
        choose([folder], {"paws": "7s"}, (), ALL)


def test_variants_are_next_to_each_other(folder: Path) -> None:
    """In the order of the file, each with what it differs in, and chosen by name as well as by file or tag."""
    write(folder, "beta", tags=["slow"], variants={"short": {"hold": "5s"}, "long": {"hold": "50s"}, "as-is": {}})
    assert names(folder) == ["Alpha", "Beta (short)", "Beta (long)", "Beta (as-is)", "Gamma"]
    chosen = choose([folder], {}, (), ALL)
    assert [(one.variant, dict(one.differs)) for one in chosen[:3]] == [
        ("", {}), ("short", {"hold": "5s"}), ("long", {"hold": "50s"}),
    ]  # fmt: skip
    assert len({one.scenario.digest for one in chosen}) == 5
    assert names(folder, only=("short",)) == ["Beta (short)"]
    assert names(folder, only=("*s*",)) == ["Beta (short)", "Beta (as-is)"]
    assert names(folder, only=("beta",)) == ["Beta (short)", "Beta (long)", "Beta (as-is)"]
    assert names(folder, shard=(2, 2)) == ["Beta (short)", "Beta (as-is)"]


def test_a_combination_is_chosen_by_its_name(folder: Path) -> None:
    """As it is written, brackets included, or by a pattern."""
    targets = ["leader(orders, [0])", "controller"]
    timeline = [{"wait": {"duration": "1s"}}]
    write(folder, "beta", tags=["${hold}"], matrix={"hold": targets}, timeline=timeline, expect={})
    assert names(folder, only=("hold=leader(orders, [0])",)) == ["Beta (hold=leader(orders, [0]))"]
    assert names(folder, only=("hold=c*",)) == ["Beta (hold=controller)"]


def test_a_variant_called_like_another_scenario(folder: Path) -> None:
    """Their reports and their baselines would be one, as those of any two."""
    write(folder, "beta", variants={"short": {"hold": "5s"}})
    write(folder, "delta", name="Beta (short)")
    with pytest.raises(UsageError, match=r"delta\.yaml and .*beta\.yaml have the same name, 'Beta \(short\)'"):
        names(folder)


def test_what_variants_differ_in_is_not_set(folder: Path) -> None:
    """One file's variants have it, so the whole gate is refused; what they share is set in each."""
    write(folder, "beta", variants={"short": {"hold": "5s"}, "long": {}})
    with pytest.raises(UsageError, match=r"beta\.yaml:1:1: --set hold=1s: it is 'hold' that the variants differ in"):
        choose([folder], {"hold": "1s"}, (), ALL)
    chosen = choose([folder / "beta.yaml"], {"count": "9"}, (), ALL)
    assert [one.scenario.topics["orders"].partitions for one in chosen] == [9, 9]


def test_the_digest_tells_what_is_done(folder: Path) -> None:
    """Equal for another layout of the same text, different for another variable."""
    path = folder / "beta.yaml"
    (before,) = choose([path], {}, (), ALL)
    path.write_text("# a remark\n" + path.read_text("utf-8"), "utf-8")
    (same,), (other,) = choose([path], {}, (), ALL), choose([path], {"hold": "77s"}, (), ALL)
    assert before.scenario.digest == same.scenario.digest != other.scenario.digest
