"""A real browser, a page full of payloads in every field, and a server that counts who comes: nobody does."""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import sample_run
from sample_run import Shape, guard, lost, objective, outages, verdict

from chaosk.report.content import content
from chaosk.report.html import html
from chaosk.rundir.paths import RunDir
from chaosk.rundir.verdict import Outcome, Severity, Verdict

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium here; test_html.py's strict parser looks as well")

MARKUP = (
    "<script>@</script>", "<script src=%></script>", "<img src=%>", '<img src=x onerror="@">', "<svg onload=@>",
    "<svg><script>@</script></svg>", "<body onload=@>", "<iframe src=%></iframe>",
    '<iframe srcdoc="<script>@</script>">',
    "<object data=%></object>", "<embed src=%>", "<link rel=stylesheet href=%>", "<style>@import '%'</style>",
    "<div style=\"background:url('%')\">", "<base href=%>", "<meta http-equiv=refresh content='0;url=%'>",
    "<form action=%><button autofocus onfocus=@>", "<input autofocus onfocus=@>", "<details open ontoggle=@>",
    "<video src=% onerror=@></video>", "<audio src=%>", "<source srcset=%>",
    "<picture><source srcset=%><img></picture>",
    "<math><mtext><style><img src=x onerror=@></style></mtext></math>", "<marquee onstart=@>x</marquee>",
    "<a href=javascript:@ id=a>a</a>", "</title><script>@</script>", "</style><script>@</script>",
    "</textarea><script>@</script>", "--><script>@</script>", "]]><script>@</script>", "\"'><script>@</script>",
    "<svg><use href=%#x /></svg>", "<svg><image href=% /></svg>",
    "<svg><foreignObject><script>@</script></foreignObject>",
    "<template><script>@</script></template>", "<noscript><p title='</noscript><script>@</script>'>",
    "<link rel=dns-prefetch href=%>", "<link rel=preload as=script href=%>", "<track src=%>", "<table background=%>",
    "+ADw-script+AD4-@+ADw-/script+AD4-", "&lt;script&gt;@&lt;/script&gt;", "{{ '@' }}{% raw %}<script>@</script>",
)  # fmt: skip
"""``@`` sets the page's title, ``%`` is an address on this machine where somebody listens."""
KEPT = frozenset({"severity", "verdict", "found", "expected", "check"})


class Listener:
    """Counts the connections that come to a port of this machine, and those by which something is asked."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/x"
        self.calls = 0
        self.requests = 0
        threading.Thread(target=self._count, daemon=True).start()

    def _count(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._socket.accept()
                self.calls += 1
                connection.settimeout(1.0)
                with suppress(TimeoutError), connection:
                    self.requests += bool(connection.recv(1))

    def close(self) -> None:
        """Listen no more."""
        self._socket.close()


@pytest.fixture
def listener() -> Iterator[Listener]:
    """Somebody who would be called."""
    found = Listener()
    yield found
    found.close()


def payload(listener: Listener) -> str:
    """All of them in one text."""
    deed = "document.title=String.fromCharCode(111,119,110,101,100)"
    return "".join(text.replace("@", deed).replace("%", listener.url) for text in MARKUP)


def shown(page: Path, folder: Path) -> str:
    """The title that the page has once a browser has shown it for two seconds."""
    words = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-sync",
             "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", f"--user-data-dir={folder / 'profile'}",
             "--virtual-time-budget=2000", "--dump-dom"]  # fmt: skip
    done = subprocess.run(
        [str(BROWSER), *words, page.as_uri()], capture_output=True, text=True, timeout=180, check=True
    )
    title = re.search(r"<title>(.*?)</title>", done.stdout, re.DOTALL)
    return title[1] if title else ""


def poisoned(value: object, text: str) -> object:
    """A document with every text in it replaced, but for those of a fixed choice."""
    if isinstance(value, dict):
        return {key: item if key in KEPT else poisoned(item, text) for key, item in value.items()}
    if isinstance(value, list):
        return [poisoned(item, text) for item in value]
    return text if isinstance(value, str) else value


def full_verdict() -> Verdict:
    """A verdict with something in every part."""
    return verdict(
        found=Outcome.VIOLATION, verdict=Outcome.VIOLATION, expected=Outcome.PASS, healed=False, guards=(guard(),),
        findings=(*outages(Shape()), lost(Severity.VIOLATION), lost(Severity.ALLOWED, reason="because")),
        objectives=(objective("recovery", "kill", None, maximum=3), objective("lost_records", "orders", 9, minimum=1)),
        faults=(sample_run.fault(Shape()).model_copy(update={"took": False, "undone": False, "why": "gone"}),),
    )  # fmt: skip


def test_a_report_runs_nothing_and_calls_nobody(
    make_run: Callable[..., RunDir], tmp_path: Path, listener: Listener
) -> None:
    """Every payload in every text of verdict, plan, run record and cluster states, and in the names in the events."""
    text = payload(listener)
    run = make_run(Verdict.model_validate_json(json.dumps(poisoned(full_verdict().model_dump(mode="json"), text))))
    sample_run.write_events(run, Shape(rate=20, topic=text, writer=text, reader=text))
    for path in (run.plan, run.run, *run.cluster.iterdir()):
        path.write_text(json.dumps(poisoned(json.loads(path.read_text("utf-8")), text)), "utf-8")
    run.html.write_text(html(content(run)), "utf-8")
    assert shown(run.html, tmp_path).startswith("VIOLATION")
    assert listener.calls == 0


def test_the_policy_holds_by_itself(make_run: Callable[..., RunDir], tmp_path: Path, listener: Listener) -> None:
    """Where escaping failed, too: the payloads as they are, below the head of a report, run and fetch nothing."""
    page = html(content(make_run(None)))
    head = page[: page.index("</head>")]
    raw = tmp_path / "raw.html"
    # What moves the page away is no policy's matter, nor is that Chromium connects to a frame's host before it asks the
    # policy about the frame: escaping alone stops these.
    text = payload(listener).replace(f"<meta http-equiv=refresh content='0;url={listener.url}'>", "")
    raw.write_text(f"{head}</head><body>{text}", "utf-8")
    assert "owned" not in shown(raw, tmp_path)
    assert listener.requests == 0


def test_they_would_run_and_call(make_run: Callable[..., RunDir], tmp_path: Path, listener: Listener) -> None:
    """The same without the policy: else the two tests above would prove nothing."""
    page = html(content(make_run(None)))
    head, policies = re.subn(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page[: page.index("</head>")])
    assert policies == 1
    raw = tmp_path / "raw.html"
    raw.write_text(f"{head}</head><body><img src={listener.url}><script>document.title='owned'</script>", "utf-8")
    assert shown(raw, tmp_path) == "owned"
    assert listener.requests > 0
