"""docs/extending.md: the files that it shows are plugins as they stand there; more of its step in steps/test_plugin."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fake_live import FakeLive, inventory
from sample_documents import written

from chaosk.cli import _reference
from chaosk.cli.main import main
from chaosk.core import plugins
from chaosk.core.errors import ExitCode
from chaosk.rundir.events.arrow import SCHEMAS
from chaosk.spec.contracts.live import ProbeState
from chaosk.spec.contracts.probe import Workplace
from chaosk.spec.expression import parse_condition
from chaosk.spec.scenario import probes

ROOT = Path(__file__).parents[1]
FILES = dict(
    re.findall(
        r"`acme_chaos/(\w+)\.py`:\n\n```python\n(.*?)```", (ROOT / "docs/extending.md").read_text("utf-8"), re.DOTALL
    )
)
GROUPS = {"shrink_mtu": "steps", "look_up": "probes", "failing": "conditions", "late_answer": "checks"}


@pytest.fixture
def acme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every file of the page, offered by the entry points of somebody else's package."""
    package = tmp_path / "acme_chaos"
    package.mkdir()
    (package / "__init__.py").touch()
    for name, text in FILES.items():
        (package / f"{name}.py").write_text(text, "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))

    def entries(group: str) -> list[SimpleNamespace]:
        mine = [f"acme_chaos.{name}" for name, kind in GROUPS.items() if group == f"chaosk.{kind}"]
        return [SimpleNamespace(value=name, load=lambda name=name: import_module(name)) for name in mine]

    monkeypatch.setattr(plugins, "entry_points", entries)
    plugins.discover.cache_clear()
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "acme_chaos"]:
        del sys.modules[name]
    plugins.discover.cache_clear()


def test_the_page_has_a_file_of_each_kind() -> None:
    """What this module, the step's and the analysis' load."""
    assert FILES.keys() == GROUPS.keys()


@pytest.mark.usefixtures("acme")
@pytest.mark.parametrize(("name", "kind"), GROUPS.items())
def test_each_is_listed(capsys: pytest.CaptureFixture[str], name: str, kind: str) -> None:
    """Beside chaosk's own, and with a page that is made of the file alone."""
    assert main(["list", kind]) == ExitCode.PASS
    assert name in capsys.readouterr().out
    page = _reference.page(kind, name)
    assert page.summary
    assert all(field.says and field.kind for field in page.fields)


@dataclass
class Log:
    """An event log that keeps its rows."""

    rows: list[tuple[str, tuple[Any, ...]]] = field(default_factory=list)

    def write(self, table: str, row: tuple[Any, ...]) -> None:
        """Keep it."""
        self.rows.append((table, row))

    def write_columns(self, table: str, rows: int, columns: Mapping[str, Any]) -> None:
        """The probe of the page writes single rows."""
        raise NotImplementedError

    def due(self) -> bool:
        """It flushes by itself."""
        return False

    def flush(self) -> None:
        """Nothing to do."""


@pytest.mark.usefixtures("acme")
def test_the_probe_writes_what_it_saw(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that is there, one that is not, and the end; each row as long as its table is wide."""
    monkeypatch.setattr("socket.getaddrinfo", _resolve)
    log, told = Log(), list[ProbeState]()
    ends = iter([False, False, True, False, True, True])
    place = Workplace(
        run_id="r", probe="names", incarnation=0, client={}, brokers={0: ("node1", 9092)}, log=log, tell=told.append,
        stopping=lambda: next(ends, True),
    )  # fmt: skip
    probe = probes()["look_up"].model_validate({"every": "100ms"})
    probe.work(place)
    assert [table for table, _ in log.rows] == ["incarnations", "calls", "calls", "ends"]
    assert all(len(row) == len(SCHEMAS[table].names) for table, row in log.rows)
    assert [row[-2:] for table, row in log.rows if table == "calls"] == [("ok", None), ("fail", "EAI -2")]
    assert (told[-1].ok, told[-1].fail) == (1, 1)


_ANSWERS = iter([True, False])


def _resolve(host: str, port: int) -> list[str]:
    import socket

    assert (host, port) == ("node1", 9092)
    if next(_ANSWERS):
        return ["198.18.0.11"]
    raise socket.gaierror(-2, "Name or service not known")


@pytest.mark.usefixtures("acme")
@pytest.mark.parametrize(("failed", "holds"), [(9, False), (10, True)])
def test_the_condition_answers(failed: int, *, holds: bool) -> None:
    """One failure less than asked for, and as many."""
    live = FakeLive(probes={"writer": ProbeState(probe="writer", kind="produce", running=True, fail=failed)})
    answer = parse_condition("failing(writer, 10)").ask(live, inventory())
    assert (answer.holds, answer.seen) == (holds, f"writer: {failed} of 10 failures")


@pytest.mark.usefixtures("acme")
def test_a_scenario_may_use_them(tmp_path: Path) -> None:
    """All three kinds that a scenario can name, in one; chaosk finds them by the entry points of what is installed."""
    document = """\
name: x
hypothesis: y
topics: {orders: {}}
probes: {writer: {produce: {topic: orders}}, names: {look_up: {every: 500ms}}}
timeline:
  - {at: 10s, shrink_mtu: {target: "leader(orders, 0)", mtu: 600}, for: 20s}
  - {when: "failing(writer, 10)", timeout: 60s, wait: {duration: 1s}}
"""
    info = tmp_path / "acme_chaos-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-chaos\nVersion: 1.0\n")
    offered = (f"[chaosk.{kind}]\n{name} = acme_chaos.{name}\n" for name, kind in GROUPS.items())
    (info / "entry_points.txt").write_text("".join(offered))
    file = written(tmp_path, document)
    done = subprocess.run(
        [sys.executable, "-m", "chaosk", "validate", str(file)], capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])},
    )  # fmt: skip
    assert done.returncode == ExitCode.PASS, done.stderr
