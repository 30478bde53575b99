"""Run directories from elsewhere: whatever verdict and plan say, there is an answer, and it shows and does not obey."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from as_github_shows import rendered
from sample_history import run_of

from chaosk.cli.main import main
from chaosk.core.errors import ExitCode

ODD: tuple[Any, ...] = (
    None, True, 0, -1, 1 << 62, 1 << 80, 1e308, float("inf"), float("nan"), "", "\u202e\x1b[31m", "<script>",
    "x" * 5000, "\ud800", [], {}, [[]], {"a": {"b": [1, {"c": 2}]}}, "leader(", "-5s", "\x00",
)  # fmt: skip
SCENARIO = Path(__file__).parents[2] / "scenarios/brokers/kill-the-leader.yaml"
KEPT = frozenset({"pass", "violation", "information"})


def spoilt(value: Any, chance: Random) -> Any:
    """A document with some of its values replaced by others of any kind, and some of its names."""
    if chance.random() < 0.04:
        return chance.choice(ODD)
    if isinstance(value, dict):
        names = {key: chance.choice(("", "<b>", "name")) if chance.random() < 0.01 else key for key in value}
        return {names[key]: spoilt(each, chance) for key, each in value.items()}
    return [spoilt(each, chance) for each in value] if isinstance(value, list) else value


def twisted(value: Any, chance: Random) -> Any:
    """A document of the same shape, with numbers and texts that no run has: what passes for typed."""
    if isinstance(value, dict):
        return {key: twisted(each, chance) for key, each in value.items()}
    if isinstance(value, list):
        return [twisted(each, chance) for each in value]
    if isinstance(value, bool) or value in KEPT or chance.random() < 0.7:
        return value
    if isinstance(value, int):
        return chance.choice((0, 1 << 61, 1 << 63, -5))
    if isinstance(value, float):
        return chance.choice((float("inf"), float("nan"), 1e308, -1.0, 0.0))
    return chance.choice(("", "\u202e\x1b[31m", "<script>", "x" * 2000)) if isinstance(value, str) else value


@pytest.mark.parametrize("seed", range(40))
def test_no_document_ends_in_a_traceback(tmp_path: Path, capsys: pytest.CaptureFixture[str], seed: int) -> None:
    """All of it is told, or it is passed over, or one sentence says what is wrong; nothing moves the cursor."""
    chance = Random(seed)  # noqa: S311 - to be repeated, not secret
    good, bad = run_of(tmp_path / "runs" / "good"), run_of(tmp_path / "runs" / "bad", day=1)
    for path in (bad.verdict, bad.plan):
        spoil = chance.choice((spoilt, twisted))
        path.write_text(json.dumps(spoil(json.loads(path.read_text("utf-8")), chance)), "utf-8")
    page, runs = tmp_path / "page.md", tmp_path / "runs"
    for words in (
        ("history", runs), ("history", runs, "--csv"), ("history", runs, "--json"),
        ("coverage", SCENARIO, "--runs", runs, "--json"), ("compare", good.root, bad.root, "--output", page),
        ("compare", good.root, bad.root, "--output", page.with_suffix(".json")),
    ):  # fmt: skip
        assert main([str(word) for word in words]) in {ExitCode.PASS, ExitCode.USAGE}
        said = capsys.readouterr()
        assert not {"\x1b", "\u202e"} & {*said.out, *said.err}, words
    assert not page.exists() or "<script>" not in rendered(page.read_text("utf-8"))
