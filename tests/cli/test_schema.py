"""`chaosk schema`: the schemas, ready to be written to a file."""

from __future__ import annotations

import json

import pytest

from chaosk.cli import _json_schemas
from chaosk.cli.main import main
from chaosk.core.errors import ExitCode


@pytest.mark.parametrize("name", _json_schemas.SCHEMAS)
def test_it_prints_the_schema_and_nothing_else(capsys: pytest.CaptureFixture[str], name: str) -> None:
    """The output is the file: JSON, with one newline at its end."""
    assert main(["schema", name]) == ExitCode.PASS
    shown = capsys.readouterr()
    assert shown.out == _json_schemas.text(name)
    assert json.loads(shown.out)["$schema"] == _json_schemas.DIALECT
    assert shown.err == ""


def test_unknown_schema(capsys: pytest.CaptureFixture[str]) -> None:
    """A wrong command line, with the names there are."""
    assert main(["schema", "scenarios"]) == ExitCode.USAGE
    assert "scenario" in capsys.readouterr().err
