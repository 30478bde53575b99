"""report.html: one file that opens offline, whatever names and values are in it; shown by a real browser too."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import sample_run
from sample_run import Shape, guard, lost, objective, verdict

from chaosk.report.content import content
from chaosk.report.html import html
from chaosk.rundir.paths import RunDir
from chaosk.rundir.verdict import Account, Finding, Outcome, Severity, Verdict

MakeRun = Callable[..., RunDir]

PAYLOADS = (
    "<script>document.title='owned'</script>",
    "<img src=http://127.0.0.1:9/x onerror=\"document.title='owned'\">",
    "\"'><svg onload=\"document.title='owned'\">",
    "</style><script>document.title='owned'</script>",
    "</title></textarea><script>document.title='owned'</script>",
    "<iframe src=\"javascript:document.title='owned'\"></iframe>",
    '<meta http-equiv=refresh content="0;url=http://127.0.0.1:9/">',
    "<link rel=stylesheet href=http://127.0.0.1:9/x.css>",
    "{{ 7 * 7 }}{% raw %}${7*7}",
    "javascript:alert(1)",
    "--><script>document.title='owned'</script><!--",
    "]]><script>document.title='owned'</script>",
    "\u202e\u2066evil\x00\x1b[31m\ud800",
)


LINK = re.compile(r"#.*|evidence/[\w.%-]+\.jsonl", re.DOTALL)
"""Links lead to places in the page, and to the files beside it."""


class Strict(HTMLParser):
    """Fails on everything a report must not have; collects tags and text."""

    VOID = frozenset({"meta", "br", "link", "img", "input", "hr"})
    ALLOWED_META = frozenset({"charset", "http-equiv", "content", "name"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """No active element, no handler, no link out of the page."""
        self.tags.add(tag)
        assert tag not in {
            "script",
            "iframe",
            "object",
            "embed",
            "link",
            "img",
            "form",
            "base",
            "image",
            "audio",
            "video",
        }
        for name, value in attrs:
            assert not name.startswith("on"), (tag, name)
            assert name not in {"src", "srcdoc", "action", "formaction", "background", "ping"}, (tag, name)
            assert name not in {"href", "xlink:href"} or LINK.fullmatch(value or ""), (tag, name, value)
            assert name != "style" or not re.search(r"url\((?!#)|expression|@import", value or ""), value
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Every element is closed in order."""
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Elements of SVG close themselves."""
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        """Text between tags."""
        self.text.append(data)


def parsed(page: str) -> Strict:
    """The page, checked."""
    parser = Strict()
    parser.feed(page)
    parser.close()
    assert parser.open == []
    return parser


def text_of(page: str) -> str:
    """All text of a page, spaces made one."""
    return " ".join(" ".join(parsed(page).text).split())


def page_of(make_run: MakeRun, told: Verdict | None = None) -> str:
    """The page of the sample run, with another verdict."""
    return html(content(make_run(told)))


def poisoned(value: object, payload: str) -> Any:
    """A document with every free text in it replaced; names that decide its type are kept."""
    if isinstance(value, dict):
        return {key: poisoned(item, payload) if key not in KEPT else item for key, item in value.items()}
    if isinstance(value, list):
        return [poisoned(item, payload) for item in value]
    return payload if isinstance(value, str) else value


KEPT = frozenset({"severity", "verdict", "found", "expected", "check"})


def rich_verdict() -> Verdict:
    """A verdict with something in every field."""
    return verdict(
        found=Outcome.VIOLATION, verdict=Outcome.VIOLATION, expected=Outcome.PASS, healed=False,
        findings=(
            *sample_run.outages(Shape()), lost(Severity.VIOLATION),
            lost(Severity.ALLOWED, reason="acks is not all").model_copy(update={"suspects": ("librdkafka #1",)}),
        ),
        guards=(guard(),), allowed={"all_brokers": "nobody else uses it"},
        objectives=(
            objective("unavailability", "writer", 40, maximum=20), objective("recovery", "kill", None, maximum=3),
            objective("lost_records", "orders", 9, minimum=1, prediction=True, unit="records"),
        ),
        faults=(sample_run.fault(Shape()).model_copy(update={"took": False, "undone": False, "why": "gone"}),),
    )  # fmt: skip


def _poisoned_verdict(payload: str) -> Verdict:
    return Verdict.model_validate_json(json.dumps(poisoned(rich_verdict().model_dump(mode="json"), payload)))


def test_it_says_what_matters_first(make_run: MakeRun) -> None:
    """Verdict and hypothesis before anything else."""
    said = text_of(page_of(make_run))
    order = [
        said.index(text) for text in ("PASS — nothing wrong", "Hypothesis", "Objectives", "Timeline", "Why it stalled")
    ]
    assert order == sorted(order)


def test_every_part_of_the_verdict_is_in_it(make_run: MakeRun) -> None:
    """Guards with what to do, findings with evidence, objectives, faults, checks, measures, states, settings."""
    said = text_of(page_of(make_run, rich_verdict()))
    for expected in (
        "start it and run the scenario again", "fault not verified", "6,863 acknowledged records are not in the log",
        "20 of 6,863 rows; all of them are in evidence/lost.jsonl", "librdkafka #1", "✕ missed", "? not measured",
        "(prediction)", "? did not take", "gone", "The cluster was not put back", "expected: pass", "latency p99",
        "The cluster before, during and after", "leader(orders, 0)", "chaosk run SCENARIO.yaml --seed 42",
        "env", "KAFKA_PASSWORD", "(all brokers): nobody else uses it",
    ):  # fmt: skip
        assert expected in said, expected


def test_it_is_the_same_every_time(make_run: MakeRun) -> None:
    """The same run gives the same bytes: no date, no random id."""
    run = make_run()
    assert html(content(run)) == html(content(run))


def test_it_forbids_scripts_and_requests_itself(make_run: MakeRun) -> None:
    """The browser is told to run and to fetch nothing, before anything else is in the head."""
    page = page_of(make_run)
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
    assert f'<meta http-equiv="Content-Security-Policy" content="{policy}">' in page
    assert page.index("Content-Security-Policy") < page.index("<title>") < page.index("<style>")
    assert "@import" not in page


@pytest.mark.parametrize("payload", PAYLOADS)
def test_every_text_is_escaped(make_run: MakeRun, payload: str) -> None:
    """A payload in every text of verdict, plan, run record and states, and in every name of the events."""
    told = _poisoned_verdict(_encodable(payload))
    run = make_run(told)
    sample_run.write_events(run, Shape(rate=20, topic=_encodable(payload), writer=_encodable(payload)))
    for path in (run.plan, run.run, *run.cluster.iterdir()):
        document = json.loads(path.read_text(encoding="utf-8"))
        path.write_text(
            json.dumps({_key(k, payload): poisoned(v, payload) for k, v in document.items()}), encoding="utf-8"
        )
    page = html(content(run))
    assert "owned" not in page or "<script>document" not in page
    assert parsed(page).tags <= TAGS


def _encodable(payload: str) -> str:
    """The payload without what neither JSON nor Arrow can carry as UTF-8."""
    return payload.encode("utf-8", "replace").decode("utf-8")


def _key(key: str, payload: str) -> str:
    return (
        key if key in {"scenario", "inventory", "durations", "partitions", "zookeepers", "seed"} else f"{key}{payload}"
    )


LOG = Account(topic="orders", reader="", owed=100, delivered=80, excused={"acks=1": 20})


TAGS = frozenset(
    [
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "main",
        "section",
        "div",
        "span",
        "h1",
        "h2",
        "h3",
        "p",
        "b",
        "i",
        "dl",
        "dt",
        "dd",
        "small",
        "ul",
        "li",
        "code",
        "pre",
        "footer",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "details",
        "summary",
        "svg",
        "g",
        "path",
        "defs",
        "pattern",
        "rect",
        "clippath",
        "text",
        "use",
        "circle",
        "a",
        "nav",
    ]
)
"""Every element a report may have."""


def test_it_uses_no_other_elements(make_run: MakeRun) -> None:
    """The list above is complete."""
    assert parsed(page_of(make_run, rich_verdict())).tags <= TAGS


@pytest.mark.parametrize(
    "gone", [("events",), ("cluster",), ("run.json",), ("plan.json",), ("events", "cluster", "run.json", "plan.json")]
)
def test_a_run_with_little_in_it_has_a_report(make_run: MakeRun, gone: tuple[str, ...]) -> None:
    """Broken off early, or kept in part: the verdict is told with what there is."""
    run = make_run()
    for name in gone:
        path = run.root / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert "PASS — nothing wrong" in text_of(html(content(run)))


def test_every_link_leads_somewhere(make_run: MakeRun) -> None:
    """Findings, faults, checks and sections by their names in the page, evidence by its file."""
    told = rich_verdict().model_copy(update={"ledger": (LOG,)})
    page = page_of(make_run, told)
    places = set(re.findall(r'id="([^"]+)"', page))
    links = re.findall(r'href="([^"]+)"', page)
    assert {"#findings", "#ledger", "#fault-kill", "#finding-1", "#check-lost", "evidence/lost.jsonl"} <= set(links)
    assert all(link[1:] in places for link in links if link.startswith("#"))


def test_the_ledger_stands_under_the_head(make_run: MakeRun) -> None:
    """Before everything else, with its sum; a verdict without one has no such section."""
    page = page_of(make_run, verdict(ledger=(LOG,)))
    assert page.index('id="ledger"') < page.index('id="objectives"')
    assert "orders the log 100 80 0 20: acks=1 0 100 ▲ excused" in text_of(page)
    assert 'id="ledger"' not in page_of(make_run)


def test_torn_tables_are_told_of(make_run: MakeRun) -> None:
    """Half of a table is not drawn as if it were the whole."""
    run = make_run()
    for table in ("sends", "partitions"):
        path = run.events / f"{table}.parquet"
        path.write_bytes(path.read_bytes()[:-100])
    said = text_of(html(content(run)))
    assert "What this report could not read" in said
    assert "events/sends.parquet cannot be read" in said
    assert "events/partitions.parquet cannot be read" in said


def test_an_interrupted_run_says_so(make_run: MakeRun) -> None:
    """And what broke it off."""
    run = make_run()
    run.run.write_text('{"interrupted": true, "error": "stopped by Ctrl-C", "healed": true}', encoding="utf-8")
    assert "The run was interrupted : stopped by Ctrl-C" in text_of(html(content(run)))


def test_a_hundred_partitions(tmp_path: Path) -> None:
    """The page stays small, and says what it leaves out."""
    run = sample_run.sample_run(tmp_path, shape=Shape(partitions=100, rate=100))
    page = html(content(run))
    assert len(page) < 700_000
    assert "40 more partitions are not listed" in text_of(page)


def test_three_violations(make_run: MakeRun) -> None:
    """Each has its place, the headline names all."""
    findings: tuple[Finding, ...] = tuple(
        lost(Severity.VIOLATION).model_copy(update={"check": check, "title": f"3 {check} rows", "count": 3})
        for check in ("lost", "unseen", "duplicate_in_log")
    )
    told = verdict(found=Outcome.VIOLATION, verdict=Outcome.VIOLATION, findings=findings)
    said = text_of(page_of(make_run, told))
    assert "VIOLATION — 3 lost rows; 3 unseen rows; 3 duplicate_in_log rows" in said
    assert said.count("✕ violation") == 3 + 3  # in the findings and in the list of checks


BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.mark.skipif(BROWSER is None, reason="no Chromium here; the strict parser above looks for the same")
def test_a_browser_runs_nothing_and_fetches_nothing(make_run: MakeRun, tmp_path: Path) -> None:
    """Headless Chromium opens a page full of payloads: its title is still ours, and its network log names no host."""
    every = "".join(_encodable(payload) for payload in PAYLOADS)
    told = _poisoned_verdict(every)
    run = make_run(told)
    sample_run.write_events(run, Shape(rate=20, topic=every, writer=every))
    run.html.write_text(html(content(run)), encoding="utf-8")
    log = tmp_path / "net.json"
    dump = subprocess.run(
        [str(BROWSER), "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--host-resolver-rules=MAP * ~NOTFOUND", f"--log-net-log={log}", f"--user-data-dir={tmp_path / 'profile'}",
         "--virtual-time-budget=2000", "--dump-dom", run.html.as_uri()],
        capture_output=True, text=True, timeout=120, check=True,
    ).stdout  # fmt: skip
    title = re.search(r"<title>(.*?)</title>", dump, re.DOTALL)
    assert title is not None
    assert title[1].startswith("VIOLATION")
    assert parsed(dump).tags <= TAGS
    assert "127.0.0.1:9/" not in re.sub(r'"(command_line|clientInfo)".*?\}', "", log.read_text(encoding="utf-8"))
