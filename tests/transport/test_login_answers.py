"""Logins by answers, at a real sshd with PAM: a password by reference or typed, and what else a server asks."""

from __future__ import annotations

from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

import paramiko
import pytest

from chaosk.hosts.transport.ssh import terminal
from chaosk.hosts.transport.ssh.passwords import password
from chaosk.hosts.transport.ssh.questions import QuestionLogin, _Questions
from chaosk.hosts.transport.ssh.route import route
from chaosk.spec.command import Command
from chaosk.spec.inventory import Host
from chaosk.spec.secrets import Secret

from .accounts import PASSWORD, USER, account, ran, refused, serving_account, typing
from .conftest import Sshd

pytestmark = [pytest.mark.lab, pytest.mark.timeout(600)]

FREE = "{user} ALL = (ALL) NOPASSWD: ALL"
ME = Command(host="node1", argv=("id", "-un"), timeout=60.0)


@pytest.fixture(autouse=True)
def no_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    """The keys of who runs the tests are not offered."""
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)


def serving(folder: Path, *lines: str) -> AbstractContextManager[Sshd]:
    """A server that lets the account in by these settings."""
    (folder / "server").mkdir()
    return serving_account(folder / "server", FREE, "\n".join(lines))


def by_reference(folder: Path, text: str = PASSWORD) -> dict[str, object]:
    """A password as an inventory has it."""
    (folder / "login").write_text(f"{text}\n", "utf-8")
    return {"password": {"file": str(folder / "login")}}


@pytest.mark.parametrize("method", ["PasswordAuthentication", "KbdInteractiveAuthentication"])
def test_a_password_by_reference(tmp_path: Path, method: str) -> None:
    """Both methods that sshd has for passwords take it, without a terminal and without a key."""
    with serving(tmp_path, f"{method} yes") as server:
        (done,) = ran(account(server, key_file=None, ssh=by_reference(tmp_path)), ME)
    assert done.stdout == f"{USER}\n"


def test_a_key_and_a_password(tmp_path: Path) -> None:
    """A server that wants both gets both; it is asked for once where somebody is at a terminal."""
    more = ("AuthenticationMethods publickey,keyboard-interactive", "KbdInteractiveAuthentication yes")
    with serving(tmp_path, *more) as server:
        (done,) = ran(account(server, ssh=by_reference(tmp_path)), ME)
        assert done.stdout == f"{USER}\n"
        said = typing(account(server), PASSWORD, after="password of")
        assert (said.count("password of"), said.count("uid=0"), said.count(PASSWORD)) == (1, 4, 0), said
        why = refused(account(server))
        assert f"was accepted, and {USER} needs keyboard-interactive as well; run chaosk at a terminal" in why


def test_a_wrong_password_is_tried_once(tmp_path: Path) -> None:
    """It is not told, and not offered again to a host that refused it."""
    with serving(tmp_path, "PasswordAuthentication yes") as server:
        host = account(server, key_file=None, ssh=by_reference(tmp_path, "wrong zebra"))
        first, second = refused(host), refused(host)
        assert server.log.read_text().count("Failed password") == 1
    assert first == second
    assert f"node1: reached, but the password of {USER} (the file " in first
    assert "zebra" not in first


def test_what_is_offered_is_told(tmp_path: Path) -> None:
    """A host that is reached and has no method that chaosk can answer: the methods, and what to do."""
    with serving(tmp_path, "PasswordAuthentication yes", "KbdInteractiveAuthentication yes") as server:
        said = refused(account(server, key_file=None))
    assert f"reached, but there is no key to log in with as {USER}" in said
    assert "it offers password and keyboard-interactive as well, for a terminal or ssh.password" in said


HOST = Host.model_validate({"address": "192.0.2.1", "user": "pia"})


def test_a_second_factor_is_asked_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The password is kept, and another question goes to the terminal with the words of the server, made harmless."""
    asked: list[tuple[str, bool]] = []

    def ask(question: str, *, echo: bool = False) -> Secret:
        asked.append((question, echo))
        return Secret(f"answer {len(asked)}")

    monkeypatch.setattr(terminal, "is_there", lambda: True)
    monkeypatch.setattr(terminal, "ask", ask)
    monkeypatch.setattr(terminal, "tell", lambda text: None)
    (hop,) = route("node1", HOST)
    for _ in range(2):
        with ExitStack() as lent:
            known = password("password", "pia-of-two-factors", None)
            questions = _Questions(QuestionLogin("node1", hop), known, lent)
            answers = questions.answer("", "", [("Password: ", False), ("Verification code: ", True)])
            assert not questions.only_the_password
            known.accept()
    assert answers == ["answer 1", "answer 3"]
    assert [echo for _, echo in asked] == [False, True, True]
    assert asked[1][0] == "pia on node1: Verification code: "


def test_a_question_without_a_terminal() -> None:
    """It is not answered at all, so that nothing wrong is counted, and is quoted."""
    (hop,) = route("node1", HOST)
    with ExitStack() as lent, pytest.raises(paramiko.SSHException, match="asks pia 'Code:', and there is no terminal"):
        _Questions(QuestionLogin("node1", hop), password("password", "x", None), lent).answer(
            "", "", [("Code: ", True)]
        )


def test_a_jump_host_does_not_get_the_password(tmp_path: Path) -> None:
    """It is the account's on the host, and nothing to another server."""
    (tmp_path / "config").write_text("Host inner\n  ProxyJump bastion\n", "utf-8")
    ssh = {"config": str(tmp_path / "config"), "password": {"env": "NOWHERE"}}
    jump, own = route("node1", Host.model_validate({"address": "inner", "user": "pia", "ssh": ssh}))
    assert (jump.password, own.password is not None) == (None, True)
