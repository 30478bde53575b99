"""The files of a report: written as a whole, quickly, and told of when they cannot be."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from sample_run import verdict

from chaosk import report
from chaosk.core.errors import UsageError
from chaosk.core.files import replace
from chaosk.report.files import FORMATS, write_all
from chaosk.rundir.paths import RunDir

MakeRun = Callable[..., RunDir]
SCHEMA = Path(__file__).parents[2] / "schemas" / "verdict.schema.json"


def test_all_formats_are_written(make_run: MakeRun) -> None:
    """HTML, Markdown and JUnit beside the verdict, nothing else left lying about."""
    run = make_run()
    before = set(run.root.iterdir())
    report.write(run)
    assert set(run.root.iterdir()) - before == {run.html, run.markdown, run.junit}


def test_one_format_alone(make_run: MakeRun) -> None:
    """The others are left as they are."""
    run = make_run()
    assert write_all(run, ["junit"]) == (run.junit,)
    assert not run.html.exists()


def test_writing_again_gives_the_same_bytes(make_run: MakeRun) -> None:
    """A report can be compared with one made later from the same run."""
    run = make_run()
    first = {path: path.read_bytes() for path in write_all(run)}
    assert {path: path.read_bytes() for path in write_all(run)} == first


def test_another_process_writes_the_same_bytes(make_run: MakeRun) -> None:
    """Neither hash seeds nor locale nor time zone show in a report."""
    run = make_run()
    first = {path: path.read_bytes() for path in write_all(run)}
    code = (
        "import sys, pathlib as p; from chaosk import report; from chaosk.rundir.paths import RunDir; "
        "report.write(RunDir(p.Path(sys.argv[1])))"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo", "LC_ALL": "C"}
    subprocess.run([sys.executable, "-c", code, run.root], check=True, env=environment, timeout=120)
    assert {path: path.read_bytes() for path in first} == first


def test_no_verdict_no_report(make_run: MakeRun) -> None:
    """Nothing is written of a run that is not judged."""
    run = make_run()
    run.verdict.unlink()
    with pytest.raises(UsageError, match="no verdict yet"):
        report.write(run)
    assert not run.html.exists()


def test_a_file_that_cannot_be_written_is_one_clear_error(tmp_path: Path) -> None:
    """With the path, the reason and what to do; no draft is left."""
    target = tmp_path / "report.html"
    target.mkdir()
    (target / "full").touch()
    with pytest.raises(UsageError, match=r"report\.html: cannot write it: .*; make room"):
        replace(target, "text")
    assert list(tmp_path.iterdir()) == [target]


def test_an_old_report_stays_until_the_new_one_is_whole(tmp_path: Path) -> None:
    """A file system that takes no more in the middle leaves the report that was there, and no half of the new one."""
    target = tmp_path / "report.html"
    target.write_text("old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, before[1]))
    try:
        with pytest.raises(UsageError, match="File too large"):
            replace(target, "new" * 10)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_every_format_names_a_path() -> None:
    """The table of formats and the layout of a run directory agree."""
    run = RunDir(Path("/x"))
    assert {getattr(run, attribute).name for attribute, _ in FORMATS.values()} == {
        "report.html",
        "report.md",
        "junit.xml",
    }


def test_the_library_is_loaded_only_to_write() -> None:
    """`chaosk --help` and a run's preflight do not wait for matplotlib."""
    code = "import sys, chaosk.report, chaosk.cli.report; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0


def test_it_can_be_loaded_beforehand() -> None:
    """What `warm_up` loads is all that writing needs: nothing of matplotlib comes later."""
    drawing = "matplotlib.backends.backend_svg"
    code = f"import sys, chaosk.report; chaosk.report.warm_up(); sys.exit({drawing!r} not in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0


def test_the_committed_schema_knows_the_verdict() -> None:
    """Who reads verdict.json by its schema can read this one, and the schema refuses what is none."""
    validator = Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))
    told = json.loads(verdict().model_dump_json())
    assert list(validator.iter_errors(told)) == []
    changes: tuple[dict[str, Any], ...] = ({"verdict": "fine"}, {"surprise": 1}, {"began": "noon"}, {"findings": [{}]})
    for change in changes:
        assert list(validator.iter_errors({**told, **change})), change
