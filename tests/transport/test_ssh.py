"""Commands over a real SSH server on loopback: what comes back, what is refused, and what a broken line does."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from chaosk.core.errors import ConnectionLost, HostError, StepError
from chaosk.hosts.transport.clock import clock
from chaosk.hosts.transport.ssh import Ssh
from chaosk.spec.command import Command

from .conftest import Sshd, make_key

pytestmark = pytest.mark.lab

KILL_OWN_SSHD = """
pid=$$
while [ "$(cat /proc/$pid/comm)" != sshd ]; do pid=$(sed -n 's/^PPid:[[:space:]]*//p' /proc/$pid/status); done
kill -9 $pid
"""
FREEZE_OWN_SSHD = KILL_OWN_SSHD.replace(
    "kill -9 $pid", "(sleep 4; kill -CONT $pid) </dev/null >/dev/null 2>&1 & kill -STOP $pid"
)


def command(*argv: str, **more: Any) -> Command:
    """A command for the one host there is."""
    return Command(host="node1", argv=argv, **more)


@pytest.fixture(scope="module")
def ssh(sshd: Sshd) -> Iterator[Ssh]:
    """A transport to the server."""
    transport = Ssh({"node1": sshd.host()})
    yield transport
    transport.close()


def refusal(sshd: Sshd, **changes: object) -> str:
    """Why a host with these settings is refused; nothing may have been run on it."""
    before = sshd.logins()
    with pytest.raises(HostError) as caught:
        Ssh({"node1": sshd.host(**changes)}).run(command("true"))
    assert str(caught.value).startswith("node1: ")
    assert sshd.logins() == before
    return str(caught.value)


def test_what_a_command_did_comes_back(ssh: Ssh) -> None:
    """Status, both streams, standard input, and an argument that a shell would take for code."""
    result = ssh.run(command("sh", "-c", 'cat; echo "$1" >&2; exit 5', "sh", "$(id) 'x'", stdin="hällo"))
    assert (result.exit_status, result.stdout, result.stderr, result.ok) == (5, "hällo", "$(id) 'x'\n", False)


def test_both_sides_stamp_the_times(ssh: Ssh) -> None:
    """Host and chaosk share a clock here, so the stamps of both sides must be in order."""
    before = time.time_ns() - 1_000_000
    result = ssh.run(command("sleep", "0.1"))
    assert before < result.host_started < result.host_ended - 100_000_000 < time.time_ns()
    assert result.received - result.sent > result.host_ended - result.host_started


def test_the_clock_offset_of_the_same_clock_is_nothing(ssh: Ssh) -> None:
    """The measured offset is zero within its own error bound, which is milliseconds at most."""
    offset = clock(ssh, "node1")
    assert abs(offset.offset) <= offset.error < 100_000_000


def test_one_connection_serves_many_threads(sshd: Sshd) -> None:
    """Thirty commands from as many threads get their own answers over one login."""
    before = sshd.logins()
    transport = Ssh({"node1": sshd.host()})
    with ThreadPoolExecutor(30) as pool:
        said = list(pool.map(lambda n: transport.run(command("echo", str(n))).stdout, range(30)))
    transport.close()
    assert said == [f"{n}\n" for n in range(30)]
    assert sshd.logins() == before + 1


def test_nagle_is_off(ssh: Ssh) -> None:
    """Without TCP_NODELAY each command would wait 40 ms for nothing."""
    ssh.run(command("true"))
    client = ssh._links["node1"]._client
    transport = client.get_transport() if client else None
    assert transport is not None
    assert isinstance(transport.sock, socket.socket)
    assert transport.sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 1


def test_much_output_on_both_streams(ssh: Ssh) -> None:
    """Five megabytes on each do not block each other."""
    result = ssh.run(command("sh", "-c", "head -c 5000000 /dev/zero | tr '\\0' x | tee /dev/stderr"))
    assert (len(result.stdout), len(result.stderr)) == (5_000_000, 5_000_000)


def test_too_much_output_is_refused(ssh: Ssh) -> None:
    """A command that never stops talking ends in a clear error, and the next one works."""
    with pytest.raises(StepError, match=r"wrote more than 16 MiB"):
        ssh.run(command("cat", "/dev/zero"))
    assert ssh.run(command("echo", "next")).stdout == "next\n"


def test_a_service_that_keeps_its_streams_open_does_not_hold_us(ssh: Ssh) -> None:
    """The answer is complete when the command ends, whoever still holds its streams."""
    result = ssh.run(command("sh", "-c", "sleep 4 & echo started"))
    assert result.stdout == "started\n"
    assert result.received - result.sent < 2e9


def test_a_hung_command_is_ended_on_the_host(ssh: Ssh, tmp_path: Path) -> None:
    """It ends in time with a status of its own, and what it was about to do never happens."""
    result = ssh.run(command("sh", "-c", 'sleep 1.5; touch "$1"', "sh", str(tmp_path / "late"), timeout=0.5))
    assert result.exit_status == 124
    time.sleep(1.5)
    assert not (tmp_path / "late").exists()


def test_a_broken_connection_is_made_anew(sshd: Sshd) -> None:
    """A connection that died between two commands costs nothing but a login."""
    transport = Ssh({"node1": sshd.host()})
    with pytest.raises(ConnectionLost):
        transport.run(command("sh", "-c", KILL_OWN_SSHD))
    before = sshd.logins()
    assert transport.run(command("echo", "again")).stdout == "again\n"
    assert sshd.logins() == before + 1
    transport.close()


def test_a_lost_command_is_not_sent_again(sshd: Sshd, tmp_path: Path) -> None:
    """Its outcome is unknown, the message says so, and it ran once."""
    transport = Ssh({"node1": sshd.host()})
    script = f'echo x >>"{tmp_path}/runs"; {KILL_OWN_SSHD}'
    with pytest.raises(ConnectionLost, match="outcome unknown"):
        transport.run(command("sh", "-c", script))
    assert (tmp_path / "runs").read_text() == "x\n"


def test_a_lost_command_that_may_be_repeated_is(sshd: Sshd, tmp_path: Path) -> None:
    """The first time kills the connection, the second answers."""
    transport = Ssh({"node1": sshd.host()})
    script = f'echo x >>"{tmp_path}/runs"; [ "$(wc -l <"{tmp_path}/runs")" = 2 ] && exit 0; {KILL_OWN_SSHD}'
    assert transport.run(command("sh", "-c", script, repeatable=True)).ok
    assert (tmp_path / "runs").read_text() == "x\nx\n"


def test_a_failing_command_is_never_sent_again(ssh: Ssh, tmp_path: Path) -> None:
    """A status is an answer, also for what may be repeated."""
    script = f'echo x >>"{tmp_path}/runs"; exit 9'
    assert ssh.run(command("sh", "-c", script, repeatable=True)).exit_status == 9
    assert (tmp_path / "runs").read_text() == "x\n"


def test_a_silent_peer_is_noticed(sshd: Sshd) -> None:
    """A half-open connection ends in time, with an unknown outcome, and does not poison the next command."""
    transport = Ssh({"node1": sshd.host()})
    began = time.monotonic()
    with pytest.raises(ConnectionLost, match=r"no answer within 5.2 s"):
        transport.run(command("sh", "-c", FREEZE_OWN_SSHD + "sleep 60", timeout=0.2))
    assert time.monotonic() - began < 7
    assert transport.run(command("true")).ok


def test_closing_while_others_run(sshd: Sshd) -> None:
    """A command under way when everything is closed ends in a typed error, not in a hang."""
    transport = Ssh({"node1": sshd.host()})
    transport.run(command("true"))
    threading.Timer(0.3, transport.close).start()
    with pytest.raises(ConnectionLost):
        transport.run(command("sleep", "3", timeout=5))


def test_an_unknown_host_key_is_refused(sshd: Sshd, tmp_path: Path) -> None:
    """With its fingerprint, and the command that would add it once it is checked."""
    (tmp_path / "known_hosts").write_text("# nobody\n")
    said = refusal(sshd, known_hosts=str(tmp_path / "known_hosts"))
    assert "ssh-ed25519 SHA256:" in said
    assert f"ssh-keyscan -p {sshd.port} 127.0.0.1 >> " in said


def test_a_changed_host_key_is_refused(sshd: Sshd, tmp_path: Path) -> None:
    """Somebody may be in between: the message says so, and nothing is run."""
    other = make_key(tmp_path / "other")
    (tmp_path / "known_hosts").write_text(f"[127.0.0.1]:{sshd.port} {other}\n")
    assert "its host key changed" in refusal(sshd, known_hosts=str(tmp_path / "known_hosts"))


def test_a_key_of_another_kind_is_no_proof(sshd: Sshd, tmp_path: Path) -> None:
    """Knowing an RSA key of the host does not make its Ed25519 key known."""
    other = make_key(tmp_path / "other", kind="rsa")
    (tmp_path / "known_hosts").write_text(f"[127.0.0.1]:{sshd.port} {other}\n")
    assert "host key" in refusal(sshd, known_hosts=str(tmp_path / "known_hosts"))


def test_a_revoked_host_key_is_refused(sshd: Sshd, tmp_path: Path) -> None:
    """A line that revokes the key outweighs one that knows it."""
    known = (sshd.folder / "known_hosts").read_text()
    (tmp_path / "known_hosts").write_text(known + f"@revoked * {known.split(' ', 1)[1]}")
    assert "is revoked" in refusal(sshd, known_hosts=str(tmp_path / "known_hosts"))


def test_a_damaged_line_of_known_hosts_does_no_harm(sshd: Sshd, tmp_path: Path) -> None:
    """Other lines still count; paramiko alone would end with an exception of its own."""
    known = (sshd.folder / "known_hosts").read_text()
    (tmp_path / "known_hosts").write_text("x ssh-rsa !!!\nrubbish\n@cert-authority * ssh-rsa AAAA\n" + known)
    transport = Ssh({"node1": sshd.host(known_hosts=str(tmp_path / "known_hosts"))})
    assert transport.run(command("true")).ok
    transport.close()


def test_without_a_known_hosts_file(sshd: Sshd, tmp_path: Path) -> None:
    """The message names the file and how to write it."""
    assert f"cannot read the known_hosts file {tmp_path}/none" in refusal(sshd, known_hosts=str(tmp_path / "none"))


def test_a_key_file_that_cannot_be_read(sshd: Sshd, tmp_path: Path) -> None:
    """Which file, and where to name another."""
    assert "hosts.*.key_file" in refusal(sshd, key_file=str(tmp_path / "none"))


def test_a_key_that_the_host_does_not_know(sshd: Sshd, tmp_path: Path) -> None:
    """The login is refused; the message says as whom and with what."""
    make_key(tmp_path / "stranger")
    said = refusal(sshd, key_file=str(tmp_path / "stranger"))
    assert "login as root with the key" in said
    assert "authorized_keys" in said


def test_a_key_with_a_passphrase(sshd: Sshd, tmp_path: Path) -> None:
    """The agent is the place for it; the message says so."""
    make_key(tmp_path / "locked", passphrase="correct horse")  # noqa: S106 - the point of it
    assert "needs a passphrase" in refusal(sshd, key_file=str(tmp_path / "locked"))


def test_a_file_that_is_no_key(sshd: Sshd, tmp_path: Path) -> None:
    """One message, and nothing of the file's contents in it."""
    (tmp_path / "rubbish").write_text("my secret\n")
    assert "my secret" not in refusal(sshd, key_file=str(tmp_path / "rubbish"))


def test_nobody_there(sshd: Sshd) -> None:
    """A closed port is told with its address."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    said = refusal(sshd, port=port)
    assert f"cannot be reached at 127.0.0.1 port {port}: Connection refused" in said


def test_no_ssh_server(sshd: Sshd, tmp_path: Path) -> None:
    """Something else answers there, and says nothing: one message within seconds."""
    with socket.socket() as mute:
        mute.bind(("127.0.0.1", 0))
        mute.listen()
        port = mute.getsockname()[1]
        (tmp_path / "known_hosts").write_text(f"[127.0.0.1]:{port} {make_key(tmp_path / 'other')}\n")
        began = time.monotonic()
        assert "is that an SSH server?" in refusal(sshd, port=port, known_hosts=str(tmp_path / "known_hosts"))
        assert time.monotonic() - began < 12


def test_the_library_prints_nothing_by_itself(sshd: Sshd, tmp_path: Path) -> None:
    """A user sees one message of ours, and no traceback that paramiko logs."""
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        host = sshd.host(port=silent.getsockname()[1])
        script = (
            "import sys; from chaosk.core.errors import HostError; from chaosk.spec.inventory import Host\n"
            "from chaosk.hosts.transport.ssh.gateways import Gateways\n"
            "try: Gateways().login('node1', Host.model_validate_json(sys.argv[1]))\n"
            "except HostError as error: print(error)\n"
        )

        def hang_up() -> None:
            silent.accept()[0].close()

        threading.Thread(target=hang_up).start()
        argv = [sys.executable, "-c", script, host.model_dump_json()]
        done = subprocess.run(argv, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.stdout.startswith("node1: SSH with 127.0.0.1")
    assert done.stderr == ""


def test_no_such_host(ssh: Ssh) -> None:
    """A command for a host that is not in the inventory names those that are."""
    with pytest.raises(StepError, match=r"node9: no such host; the inventory has node1"):
        ssh.run(Command(host="node9", argv=("true",)))


def test_what_comes_by_standard_input_stays_out_of_messages(sshd: Sshd) -> None:
    """Secrets travel by standard input; no error repeats it."""
    transport = Ssh({"node1": sshd.host()})
    with pytest.raises(ConnectionLost) as caught:
        transport.run(command("sh", "-c", KILL_OWN_SSHD, stdin="my secret"))
    assert "my secret" not in str(caught.value)
