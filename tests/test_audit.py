"""The audits of the test command: each finds what it is for, and an advisory service out of reach fails nobody."""

from __future__ import annotations

import json
import os
import re
import runpy
import shutil
import socket
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

ROOT = Path(__file__).parent.parent
ADVISORY = {
    "id": "PYSEC-2099-1", "aliases": [], "summary": "made up", "details": "made up",
    "affected": [{"package": {"name": "chaosk-made-up", "ecosystem": "PyPI"},
                  "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "2.0"}]}]}],
}  # fmt: skip


def serving(answer: dict[str, object]) -> HTTPServer:
    """An advisory service on this machine that always answers the same."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            body = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


@pytest.fixture
def locked(tmp_path: Path) -> Path:
    """Two packages that no registry has."""
    path = tmp_path / "requirements.lock"
    path.write_text("chaosk-made-up==1.0\nchaosk-made-up-too==1.0\n")
    return path


def audit(locked: Path, port: int) -> subprocess.CompletedProcess[str]:
    """The audit, asking there."""
    command = [sys.executable, str(ROOT / ".ci/audit.py"), str(locked), "-s", "osv", "--osv-url"]
    environment = {**os.environ, "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
    return subprocess.run(
        [*command, f"http://127.0.0.1:{port}/"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env=environment,
    )


@pytest.fixture
def service(request: pytest.FixtureRequest) -> Iterator[int]:
    """The port of a service that gives the parameter for an answer."""
    server = serving(request.param)
    yield server.server_port
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("service", [{"vulns": [ADVISORY]}], indirect=True)
def test_a_known_vulnerability_fails(locked: Path, service: int) -> None:
    """By name, version, advisory and what fixes it."""
    done = audit(locked, service)
    assert done.returncode == 1
    assert "chaosk-made-up 1.0: PYSEC-2099-1, fixed in 2.0" in done.stderr


@pytest.mark.parametrize("service", [{}], indirect=True)
def test_none_is_said(locked: Path, service: int) -> None:
    """With the number of packages that were asked about."""
    done = audit(locked, service)
    assert (done.returncode, "2 packages without a known vulnerability" in done.stderr) == (0, True)


def test_a_service_out_of_reach_fails_nobody_and_is_said(locked: Path) -> None:
    """A build without a network goes on, and does not look as if it had been audited."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        done = audit(locked, closed.getsockname()[1])
    assert done.returncode == 0, done.stderr
    assert "NOT AUDITED, the advisory service cannot be asked" in done.stderr
    assert "without a known vulnerability" not in done.stderr


@pytest.mark.parametrize(
    ("known", "says"),
    [
        ({"a"}, "1 packages without a known vulnerability; NOT AUDITED, the advisory service does not know them: b, c"),
        (
            set(),
            "0 packages without a known vulnerability; NOT AUDITED, the advisory service does not know them: all 3",
        ),
    ],
)
def test_packages_that_nobody_knows_are_said(known: set[str], says: str) -> None:
    """A registry may have the packages and no advisories: that is no audit, and does not look like one."""
    judged = runpy.run_path(str(ROOT / ".ci/audit.py"))["judged"]
    told = [{"name": name, **({"version": "1"} if name in known else {"skip_reason": "not there"})} for name in "abc"]
    assert judged(json.dumps({"dependencies": told}), "") == (0, says)


def test_the_test_command_asks() -> None:
    """All are in what CI runs, and none of them may fail unnoticed."""
    (body,) = re.findall(r"\nrun_tests\(\) \{\n(.*?)\n\}\n", (ROOT / "dev").read_text(), re.DOTALL)
    lines = {line.strip().removeprefix("nice ").split(" #")[0] for line in body.splitlines()}
    assert {"python .ci/audit.py requirements-dev.lock", ".ci/scan", "mypy --no-error-summary"} <= lines
    assert ".ci/imports" in lines
    assert '[ "$status" = 2 ] || end_checks || status=$?' in lines
    assert any(line.startswith("bandit ") and "||" not in line for line in lines)
    assert "set -euo pipefail" in (ROOT / "dev").read_text()


FORBIDDEN = [("core", "cli"), ("run", "analysis"), ("analysis", "run")]


def imports_checked(folder: Path, importer: str, imports: str) -> subprocess.CompletedProcess[str]:
    """What the contract of this tree says of a package with the same rooms, and one import."""
    (contract,) = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    rooms = [room for layer in contract["layers"] for room in layer.split(" | ")]
    assert {path.parent.name for path in (ROOT / "chaosk").glob("*/__init__.py")} == {*rooms}
    for room in (".", *rooms):
        (folder / "chaosk" / room).mkdir(parents=True, exist_ok=True)
        (folder / "chaosk" / room / "__init__.py").touch()
    (folder / "chaosk" / importer / "some.py").write_text(f"from chaosk import {imports}\n")
    (folder / ".ci").mkdir()
    for name in (".ci/imports", "pyproject.toml"):
        shutil.copy(ROOT / name, folder / name)
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    words = [str(folder / ".ci/imports")]
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=60, env=environment)


@pytest.mark.parametrize(("importer", "imports"), FORBIDDEN)
def test_an_import_that_the_rooms_forbid_fails(tmp_path: Path, importer: str, imports: str) -> None:
    """Upwards, or between the two halves; it is named."""
    done = imports_checked(tmp_path, importer, imports)
    assert done.returncode == 1
    assert f"chaosk.{importer}.some -> chaosk.{imports}" in done.stderr


def test_an_import_downwards_is_allowed(tmp_path: Path) -> None:
    """Without a word."""
    done = imports_checked(tmp_path, "cli", "core")
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def beside(tmp_path: Path, lines: list[str], *then: str) -> subprocess.CompletedProcess[str]:
    """A shell that starts ``lines`` as the test command does its checks, and then does ``then``."""
    functions = re.findall(
        r"\n(?:declare -A checks=\(\)\n)?(?:start|end)_checks\(\) \{\n.*?\n\}(?=\n)",
        (ROOT / "dev").read_text(),
        re.DOTALL,
    )
    assert len(functions) == 2
    head = ["set -euo pipefail", 'say() { echo "$*" >&2; }', *functions]
    script = "\n".join([*head, "start_checks <<'END'", *lines, "END", *then])
    return subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize("bad", [[], [0], [2], [0, 1, 2]])
def test_of_what_runs_beside_the_tests_each_counts(tmp_path: Path, bad: list[int]) -> None:
    """All begin before the tests and have ended after them; wherever one fails the whole does, and says which."""
    lines = [f"sh -c 'sleep 0.{9 - one}; touch {one}; exit {3 if one in bad else 0}' # why" for one in range(3)]
    done = beside(tmp_path, lines, "touch tests", "end_checks", "touch after")
    assert done.returncode == (3 if bad else 0)
    assert {path.name for path in tmp_path.iterdir()} == {"0", "1", "2", "tests"} | (set() if bad else {"after"})
    assert set(done.stderr.splitlines()) == {f"failed: {lines[one]} (status 3)" for one in bad}


def test_what_runs_beside_the_tests_ends_with_them(tmp_path: Path) -> None:
    """Who breaks the tests off leaves nothing running."""
    pids = [tmp_path / "0", tmp_path / "1"]
    lines = [f"sh -c 'echo $$ >{pid}.new; mv {pid}.new {pid}; exec sleep 60'" for pid in pids]
    done = beside(tmp_path, lines, *(f"until [ -e {pid} ]; do sleep 0.01; done" for pid in pids), "exit 2")
    assert done.returncode == 2
    assert [pid for pid in pids if Path("/proc", pid.read_text().strip()).exists()] == []


def test_a_lock_that_cannot_be_read_fails(tmp_path: Path) -> None:
    """That is a matter of this tree."""
    (tmp_path / "broken.lock").write_text("not == a = requirement\n")
    done = audit(tmp_path / "broken.lock", 9)
    assert done.returncode == 1
    assert "pip-audit failed" in done.stderr


@pytest.mark.parametrize(
    "line",
    ["aws = 'AKIA" + "IOSFODNN7EXAMPLF'", "-----BEGIN RSA " + "PRIVATE KEY-----", "password = '" + "Tr0ub4dor&3x'"],
)
def test_a_secret_in_a_file_fails(tmp_path: Path, line: str) -> None:
    """Keys of a cloud, private keys, passwords; the clean file beside it does not."""
    (tmp_path / "clean.py").write_text("x = 1\n")
    (tmp_path / "dirty.py").write_text(f"{line}\n")
    scan = [str(ROOT / ".ci/scan")]
    environment = {**os.environ, "SCAN_IN": str(tmp_path)}
    told = {
        name: subprocess.run([*scan, name], capture_output=True, text=True, check=False, timeout=60, env=environment)
        for name in ("clean.py", "dirty.py")
    }
    assert told["clean.py"].returncode == 0
    assert told["dirty.py"].returncode == 1
    assert "dirty.py:1" in told["dirty.py"].stdout


def test_what_bandit_is_asked_for_it_finds(tmp_path: Path) -> None:
    """With the very options of the test command: a shell made of text, and YAML that makes objects."""
    (tmp_path / "bad.py").write_text("import subprocess, yaml\nsubprocess.run(x, shell=True)\nyaml.load(y)\n")
    lines = [line.strip().removeprefix("nice ") for line in (ROOT / "dev").read_text().splitlines()]
    (line,) = [line for line in lines if line.startswith("bandit ")]
    words = [word if word != "chaosk" else str(tmp_path) for word in line.split()]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60, cwd=ROOT)
    assert done.returncode == 1
    assert {"B506", "B602"} <= {word for word in ("B506", "B602") if word in done.stdout}
