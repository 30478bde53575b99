"""Secrets: found where the inventory says, and shown nowhere."""

from __future__ import annotations

import copy
import json
import logging
import pickle
import traceback
from pathlib import Path

import pytest

from chaosk.core.errors import ExitCode, PreflightError
from chaosk.spec.inventory import SecretRef
from chaosk.spec.secrets import Secret, resolve

TOKEN = "hunter2-QmFzZTY0"  # noqa: S105 - the token that must not appear


def test_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable's value, as it is."""
    monkeypatch.setenv("KAFKA_PASSWORD", f" {TOKEN}\n")
    assert resolve(SecretRef(env="KAFKA_PASSWORD")).reveal() == f" {TOKEN}\n"


@pytest.mark.parametrize(("content", "secret"), [(TOKEN, TOKEN), (f"{TOKEN}\n", TOKEN), (f"{TOKEN}\n\n", f"{TOKEN}\n"),
                                                 (f"{TOKEN}\r\n", TOKEN), ("", "")])  # fmt: skip
def test_from_a_file(tmp_path: Path, content: str, secret: str) -> None:
    """The file's text without the one newline that editors add."""
    path = tmp_path / "secret"
    path.write_bytes(content.encode())
    assert resolve(SecretRef(file=str(path))).reveal() == secret


def test_missing_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Said by name, before anything is touched."""
    monkeypatch.delenv("KAFKA_PASSWORD", raising=False)
    with pytest.raises(PreflightError, match="KAFKA_PASSWORD is not set") as caught:
        resolve(SecretRef(env="KAFKA_PASSWORD"))
    assert caught.value.exit_code is ExitCode.PREFLIGHT


def test_missing_folder_binary_and_endless_files(tmp_path: Path) -> None:
    """Each is one clear message with the path, none shows what is in the file."""
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe" + TOKEN.encode())
    for path, said in (
        (tmp_path / "none", "no such file"),
        (tmp_path, "is a directory"),
        (binary, "not UTF-8"),
        (Path("/dev/zero"), "too long for a secret"),
    ):
        with pytest.raises(PreflightError, match=said) as caught:
            resolve(SecretRef(file=str(path)))
        assert str(path) in str(caught.value)
        assert TOKEN not in "".join(traceback.format_exception(caught.value))


def test_it_shows_itself_nowhere(caplog: pytest.LogCaptureFixture) -> None:
    """Not as text, in formats, in logs, in containers, in tracebacks."""
    secret = Secret(TOKEN)
    logging.getLogger("x").warning("%s %r %s", secret, secret, [secret])
    shown = [str(secret), repr(secret), f"{secret}", f"{secret:>40}", str({"a": secret}), caplog.text]
    shown.append("".join(traceback.format_exception(ValueError(secret))))
    assert all(TOKEN not in text for text in shown)


def test_it_cannot_be_stored() -> None:
    """Not as JSON, not as a pickle, not as a copy: only the reference is passed on."""
    secret = Secret(TOKEN)
    for store in (json.dumps, pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError):
            store(secret)


def test_equality_is_by_content() -> None:
    """Equal secrets are equal, and equal to nothing else."""
    assert Secret(TOKEN) == Secret(TOKEN)
    assert hash(Secret(TOKEN)) == hash(Secret(TOKEN))
    assert Secret(TOKEN) != Secret("other")
    assert Secret(TOKEN) != TOKEN


def test_a_command_prints_a_secret(capfd: pytest.CaptureFixture[str]) -> None:
    """One newline at its end is dropped; what it asks or complains goes to the terminal."""
    script = ["sh", "-c", "echo 'unlock me' >&2; echo hunter2"]
    assert resolve(SecretRef.model_validate({"command": script})).reveal() == "hunter2"
    assert capfd.readouterr().err == "unlock me\n"


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (["false"], "failed with status 1; run it by itself to see why"),
        (["/no/such/program"], "cannot be run: no such file or directory"),
        (["printf", "\\377"], "printed no UTF-8 text"),
        (["head", "-c", "70000", "/dev/zero"], "too long for a secret"),
    ],
)
def test_a_command_that_prints_none(command: list[str], says: str) -> None:
    """Its first word and the reason; nothing of what it printed."""
    with pytest.raises(PreflightError, match=f"the command {command[0]}, which should print a secret.*{says}"):
        resolve(SecretRef.model_validate({"command": command}))
