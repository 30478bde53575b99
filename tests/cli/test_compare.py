"""``chaosk compare``: the terminal, the pages, and what is refused."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
import sample_run
from as_github_shows import rendered
from click.testing import CliRunner, Result
from sample_history import inventory, run_of
from sample_run import Shape

from chaosk.cli.main import cli, main
from chaosk.core.errors import ExitCode
from chaosk.rundir.paths import RunDir
from chaosk.rundir.verdict import Measure

HOSTILE = "</td><script>document.title='owned'</script><img src=http://127.0.0.1:9/x onerror=\"x\">\u202e\x1b[31m"
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


@pytest.fixture
def runs(tmp_path: Path) -> tuple[RunDir, RunDir]:
    """One run on ZooKeeper, and one in KRaft mode with another rate, both with events."""
    one = run_of(tmp_path / "gate" / "runs" / "kill-1" / "kill" / "one")
    two = run_of(tmp_path / "two", day=1, kafka="4.1.0", plan={"inventory": inventory(kraft=True)})
    for run in (one, two):
        sample_run.write_events(run, Shape(rate=20))
    return one, two


def said(*words: object) -> Result:
    """What the command prints."""
    return CliRunner().invoke(cli, ["compare", *map(str, words)], catch_exceptions=False)


class Page(HTMLParser):
    """Every element of a page and its attributes, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep it."""
        self.tags.add(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        """Keep it."""
        self.text += f" {data.strip()}"


def test_the_terminal_has_verdicts_differences_and_figures(runs: tuple[RunDir, RunDir]) -> None:
    """A gate's folder stands for its runs; columns are in the order of the words."""
    told = said(runs[1].root, runs[0].root.parents[3])
    lines = [" ".join(line.split()) for line in told.stdout.splitlines()]
    assert any(line.startswith("A Kill the leader under load 2026-09-22") and "✓ PASS" in line for line in lines)
    assert "cluster kafka 4.1.0 3.9.2" in lines
    assert "cluster mode kraft zookeeper" in lines
    assert "unavailability writer 11.0 s 11.0 s" in lines
    assert f"B: {runs[0].root}" in lines
    assert told.exit_code == 0


def test_equal_plans_are_said_to_be(tmp_path: Path) -> None:
    """Not an empty table."""
    run_of(tmp_path / "a")
    run_of(tmp_path / "b", day=1)
    assert "Nothing differs between the plans" in said(tmp_path).stdout


def test_the_page_has_it_all_and_fetches_nothing(runs: tuple[RunDir, RunDir], tmp_path: Path) -> None:
    """One file with the plots as SVG; the browser is told to run and to fetch nothing."""
    output = tmp_path / "page.html"
    assert said(*(run.root for run in runs), "--output", output).stdout.splitlines()[-1] == f"page: {output}"
    page = output.read_text("utf-8")
    assert f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">' in page
    assert page.index("Content-Security-Policy") < page.index("<title>")
    found = Page(page)
    assert not found.tags & {"script", "img", "link", "iframe", "object", "embed", "form", "base"}
    assert not [name for name, _ in found.attributes if name in {"src", "href", "action"} or name.startswith("on")]
    assert "@import" not in page
    assert not re.search(r"url\((?!#)", page)
    for expected in ("2 runs of Kill the leader under load, side by side", "Records acknowledged per second",
                     "What differs", "11.0 s", "during kill", "4.1.0"):  # fmt: skip
        assert expected in found.text, expected


def test_a_hostile_run_is_shown_and_not_obeyed(tmp_path: Path) -> None:
    """A payload in every text of verdict and plan: escaped in each form, no control character anywhere."""
    fault = sample_run.fault(Shape()).model_copy(update={"name": HOSTILE, "targets": HOSTILE})
    measure = Measure(metric=HOSTILE, subject=HOSTILE, window=HOSTILE, value=1.0, unit=HOSTILE)
    plan = {
        "inventory": {**inventory(name=HOSTILE), "client": {HOSTILE: HOSTILE}},
        "scenario": {HOSTILE: HOSTILE, "variables": {HOSTILE: HOSTILE}, "timeline": [{"name": HOSTILE, "x": HOSTILE}]},
    }
    bad = run_of(tmp_path / "bad", kafka=HOSTILE, plan=plan, scenario=HOSTILE, faults=(fault,), measures=(measure,))
    sample_run.write_events(bad, Shape(rate=20, writer="<script>", topic="<script>"))
    run_of(tmp_path / "good")
    for name in ("page.html", "page.md", "page.json"):
        told = said(tmp_path / "bad", tmp_path / "good", "--output", tmp_path / name)
        page = (tmp_path / name).read_text("utf-8")
        assert "\x1b" not in told.stdout + page
        assert "\u202e" not in told.stdout
        if name != "page.json":
            assert "<script>" not in (rendered(page) if name == "page.md" else page)
            assert "\u202e" not in page
            assert "owned" in page
    found = Page((tmp_path / "page.html").read_text("utf-8"))
    assert "script" not in found.tags
    assert "img" not in found.tags


def test_json_and_markdown(runs: tuple[RunDir, RunDir], tmp_path: Path) -> None:
    """The same for programs, with the lines as numbers, and for a pull request."""
    folders = [run.root for run in runs]
    said(*folders, "--output", tmp_path / "page.json")
    told = json.loads((tmp_path / "page.json").read_text("utf-8"))
    assert [run["letter"] for run in told["runs"]] == ["A", "B"]
    assert len(told["lines"][0]["acknowledged"]) == len(told["seconds"]) > 50
    assert {"group": "cluster", "setting": "mode", "values": ["zookeeper", "kraft"]} in told["differences"]
    said(*folders, "--output", tmp_path / "page.md")
    assert "| cluster | mode | zookeeper | kraft |" in (tmp_path / "page.md").read_text("utf-8")


def test_a_run_without_events_is_compared_and_not_drawn(runs: tuple[RunDir, RunDir], tmp_path: Path) -> None:
    """The page says so."""
    (runs[1].events / "sends.parquet").unlink()
    output = tmp_path / "page.html"
    told = said(*(run.root for run in runs), "--output", output)
    note = f"{runs[1].root}: there are no sends in its events; it is not drawn"
    assert note in told.stdout
    assert note in Page(output.read_text("utf-8")).text


def test_what_lies_in_a_folder_and_is_no_run_is_passed_over(runs: tuple[RunDir, RunDir]) -> None:
    """Of a folder; a run that is named itself must be one."""
    run_of(runs[0].root.parent / "unfinished").verdict.unlink()
    told = said(runs[0].root.parents[3], runs[1].root)
    assert told.exit_code == 0
    assert "unfinished: no verdict yet" in told.stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "Missing argument"),
        (("ONE",), "1 judged run: two to 26 can stand side by side"),
        (("ONE", "ONE"), "1 judged run"),
        (("ONE", "nowhere"), "is no folder"),
        (("ONE", "UNJUDGED"), "no verdict yet; judge the run with"),
        (("ONE", "TWO", "--output", "page.pdf"), "use one of .html, .md, .json"),
        (("ONE", "TWO", "--output", "nowhere/page.html"), "cannot write it"),
    ],
)
def test_bad_input_is_one_clear_error(
    runs: tuple[RunDir, RunDir],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    says: str,
) -> None:
    """The exit code of bad input, and one sentence."""
    unjudged = run_of(tmp_path / "unjudged")
    unjudged.verdict.unlink()
    places = {"ONE": runs[0].root, "TWO": runs[1].root, "UNJUDGED": unjudged.root}
    assert main(["compare", *(str(places.get(word, word)) for word in words)]) == ExitCode.USAGE
    assert says in " ".join(capsys.readouterr().err.split())


def test_half_a_character_in_a_plan(tmp_path: Path) -> None:
    """JSON can hold one, UTF-8 cannot: each page shows its number."""
    for name, text in (("a", "\ud800"), ("b", "x")):
        run_of(tmp_path / "runs" / name, kafka=text, plan={"inventory": inventory(name=text)})
    for page in ("page.html", "page.md", "page.json"):
        assert said(tmp_path / "runs", "--output", tmp_path / page).exit_code == 0
        assert "ud800" in (tmp_path / page).read_text("utf-8")
