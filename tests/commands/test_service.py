"""The commands for one server process: on what they are made of, and on real processes of this machine."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from chaosk.hosts.commands import service
from chaosk.spec.command import Command
from chaosk.spec.inventory import Broker, Listener, ScriptService, ServerProcess, SystemdService

SERVER = "import signal, sys; signal.pause()"


def run(command: Command, **env: str) -> subprocess.CompletedProcess[str]:
    """Run a command here as it would be run on the host; the processes are our own, so root is not needed."""
    return subprocess.run(command.argv, capture_output=True, text=True, check=False, env={**os.environ, **env})


@pytest.fixture
def process(tmp_path: Path) -> ServerProcess:
    """A service whose scripts start and stop a process that names its configuration, and write its pid file."""
    config, pid_file = tmp_path / "server.properties", tmp_path / "server.pid"
    config.touch()
    begin = f'setsid "{sys.executable}" -c "{SERVER}" "$1" </dev/null >/dev/null 2>&1 & echo $! >"$2"'
    start = ("sh", "-c", begin, "sh", str(config), str(pid_file))
    stop = ("sh", "-c", 'kill "$(cat "$1")"', "sh", str(pid_file))
    return ServerProcess(
        host="node1",
        service=ScriptService(start=start, stop=stop, pid_file=str(pid_file)),
        config=str(config),
    )


@pytest.fixture
def pid(process: ServerProcess) -> Iterator[int]:
    """The process, running; whatever a test leaves of it is ended."""
    assert run(service.start(process)).returncode == 0
    number = int(pid_file(process).read_text())
    wait(service.is_running(process))
    yield number
    try:
        os.kill(number, signal.SIGKILL)
    except ProcessLookupError:
        return


def broker(process: ServerProcess, port: int) -> Broker:
    """The same process as a broker that listens on a port."""
    listeners = {"CLIENT": Listener(address="127.0.0.1", port=port)}
    return Broker(host=process.host, service=process.service, config=process.config, listeners=listeners)


def pid_file(process: ServerProcess) -> Path:
    """Where its id is."""
    assert isinstance(process.service, ScriptService)
    return Path(process.service.pid_file)


def wait(query: Command) -> None:
    """Until the query holds; a process needs a moment to show what it got."""
    end = time.monotonic() + 5
    while (answer := run(query)).returncode != 0:
        assert time.monotonic() < end, answer
        time.sleep(0.02)


def test_every_command_runs_as_root_on_the_processs_host(process: ServerProcess) -> None:
    """Nothing is pasted into the script: values are arguments, the script is the same for all."""
    commands = [service.start(process), service.stop(process), service.kill(process)]
    commands += [service.is_running(process), service.is_gone(process), service.is_frozen(process)]
    assert {(command.host, command.sudo) for command in commands} == {("node1", True)}
    assert len({command.argv[2] for command in commands}) == 1
    assert commands[4].argv[4:] == ("gone", "script", str(pid_file(process)), process.config)


def test_only_a_signal_may_not_be_repeated(process: ServerProcess) -> None:
    """A kill sent twice could hit a process that a supervisor has started meanwhile; all else is safe to repeat."""
    assert not service.kill(process).repeatable
    assert service.start(process).repeatable
    assert service.stop(process).repeatable
    assert service.is_gone(process).repeatable


@pytest.mark.parametrize(
    ("argv", "file"),
    [
        ("/opt/kafka/start.sh /etc/kafka.properties", "/opt/kafka/start.sh"),
        ("sudo -u kafka /opt/kafka/start.sh", "sudo"),
        ("bash /opt/kafka/start.sh", "/opt/kafka/start.sh"),
        ("/bin/sh -eu /opt/kafka/start.sh", "/opt/kafka/start.sh"),
        ("env HEAP=1g nohup /opt/kafka/start.sh", "/opt/kafka/start.sh"),
        ("ionice -c 2 nice -n 5 /opt/kafka/start.sh", "/opt/kafka/start.sh"),
        ("sh -c /opt/kafka/start.sh", "sh"),
        ("nice systemctl start kafka", "nice"),
    ],
)
def test_which_file_decides_as_whom_a_program_is_run(argv: str, file: str) -> None:
    """The one that is carried out in the end, whatever is put before it; of a text for a shell nobody can tell."""
    assert service.program_of(tuple(argv.split())) == file


def test_start_and_stop(process: ServerProcess, pid: int) -> None:
    """Started it runs, stopped it is gone; both are safe to do twice."""
    assert f"process {pid}" in run(service.is_running(process)).stdout
    assert run(service.start(process)).stdout == f"process {pid}, started 0 times\n"
    assert run(service.stop(process)).returncode == 0
    wait(service.is_gone(process))
    assert run(service.is_running(process)).returncode == 1
    assert run(service.stop(process)).stdout == "does not run\n"


LOOP = """while [ -e "$3" ]; do
    "$4" -c "$5" "$1" & echo $! >"$2"
    wait
    sleep 0.5
done"""
"""A supervisor: it starts a server again half a second after its end, for as long as a file is there."""


@pytest.fixture
def lease(tmp_path: Path) -> dict[str, str]:
    """The environment of what is done under the lease ``run-1.kill``."""
    folder = tmp_path / "kept" / "leases" / "run-1.kill"
    folder.mkdir(parents=True)
    return {"CHAOSK_KEPT": str(tmp_path / "kept"), "CHAOSK_LEASE": str(folder)}


def test_who_was_killed_is_known_whoever_is_there_now(
    process: ServerProcess, tmp_path: Path, lease: dict[str, str]
) -> None:
    """A supervisor starts another: the one that was killed is ended, and the other one is back after half a second."""
    on = tmp_path / "on"
    on.touch()
    words = (str(process.config), str(pid_file(process)), str(on), sys.executable, SERVER)
    with subprocess.Popen(("sh", "-c", LOOP, "sh", *words), start_new_session=True) as supervisor:
        try:
            wait(service.is_running(process))
            for ask in (service.is_ended, service.is_returned):  # nobody was killed
                assert run(ask(process, "run-1.kill"), **lease).returncode == 2
            assert run(service.kill(process), **lease).returncode == 0
            end = time.monotonic() + 20
            while (back := run(service.is_returned(process, "run-1.kill"), **lease)).returncode != 0:
                assert time.monotonic() < end, back
            assert run(service.is_ended(process, "run-1.kill"), **lease).returncode == 0
            seconds = float(back.stdout.split("started ")[1].split()[0])
            assert 0.4 <= seconds < 20
        finally:
            on.unlink()
            os.kill(int(pid_file(process).read_text()), signal.SIGKILL)
            supervisor.wait(20)


def test_what_nobody_starts_again_has_not_returned(process: ServerProcess, pid: int, lease: dict[str, str]) -> None:
    """The process that was killed is gone, and no other is there."""
    assert run(service.kill(process), **lease).stdout == f"process {pid} got KILL\n"
    wait(service.is_gone(process))
    assert run(service.is_ended(process, "run-1.kill"), **lease).returncode == 0
    assert run(service.is_returned(process, "run-1.kill"), **lease).returncode == 1


def test_what_was_marked_and_not_killed_is_no_reason_to_wait(
    process: ServerProcess, pid: int, lease: dict[str, str]
) -> None:
    """The host's script died between the two: after half a minute the process counts as one that runs."""
    born = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    up = float(Path("/proc/uptime").read_text().split()[0])
    (Path(lease["CHAOSK_LEASE"]) / "leaving").write_text(f"[{pid} {born}] {up - 31:.2f} killed\n")
    began = time.monotonic()
    assert run(service.start(process), **lease).stdout == f"process {pid}, started 0 times\n"
    assert time.monotonic() - began < 30


def test_a_script_around_a_server_that_is_gone_has_not_returned(
    process: ServerProcess, java: str, lease: dict[str, str]
) -> None:
    """It goes on after Java has died, as one that collects a dump: no broker runs, and it began before the kill."""
    with subprocess.Popen(["sh", "-c", '"$0" -c "$1" "$2"; sleep 60', java, IDLE, process.config or ""]) as around:
        pid_file(process).write_text(str(around.pid))
        wait(service.is_running(process))
        assert run(service.kill(process), **lease).returncode == 0
        wait_ended(process, lease)
        done = run(service.is_returned(process, "run-1.kill"), **lease)
        around.kill()
    assert done.returncode == 1
    assert "is no server, but" in done.stderr


def wait_ended(process: ServerProcess, lease: dict[str, str]) -> None:
    """Until the process that was killed is gone."""
    end = time.monotonic() + 5
    while run(service.is_ended(process, "run-1.kill"), **lease).returncode != 0:
        assert time.monotonic() < end
        time.sleep(0.05)


HOLDS_A_JAR = """
import pathlib, signal, sys
jar = open(sys.argv[2])
pathlib.Path(sys.argv[3]).touch()
signal.pause()
"""
"""Opens a file, and says so by another."""


@pytest.mark.parametrize(("folder", "runs"), [("new", False), ("old", True)])
def test_only_what_runs_from_there_is_stopped(
    process: ServerProcess, tmp_path: Path, folder: str, *, runs: bool
) -> None:
    """An undo that is carried out twice must not stop what it has brought back."""
    assert isinstance(process.service, ScriptService)
    for each in ("old", "new"):
        (tmp_path / each).mkdir()
    jar = tmp_path / "new" / "kafka-clients-3.9.2.jar"
    jar.touch()
    begin = f'setsid "$@" </dev/null >/dev/null 2>&1 & echo $! >"{pid_file(process)}"'
    opened = tmp_path / "opened"
    words = (sys.executable, "-c", HOLDS_A_JAR, str(process.config), str(jar), str(opened))
    server = process.model_copy(
        update={"service": process.service.model_copy(update={"start": ("sh", "-c", begin, "sh", *words)})}
    )
    assert run(service.start(server)).returncode == 0
    end = time.monotonic() + 30
    while not opened.exists():
        assert time.monotonic() < end
        time.sleep(0.05)
    try:
        assert run(service.stop_from(server, str(tmp_path / folder))).returncode == 0
        wait(service.is_running(server) if runs else service.is_gone(server))
    finally:
        run(service.kill(server))


def free_port() -> int:
    """A port that nobody listens on at the moment."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


LISTENS_THE_THIRD_TIME = """
import pathlib, signal, socket, sys, time
tries = pathlib.Path(sys.argv[2])
tries.write_text(tries.read_text() + "x" if tries.exists() else "x")
time.sleep(0.7)
if len(tries.read_text()) == 3:
    listener = socket.create_server(("127.0.0.1", int(sys.argv[3])))
    signal.pause()
"""


def test_a_process_that_ends_at_once_is_started_again(process: ServerProcess, tmp_path: Path) -> None:
    """As a killed broker does until its old session has expired; the start ends when it listens."""
    assert isinstance(process.service, ScriptService)
    port = free_port()
    begin = f'setsid "$@" </dev/null >/dev/null 2>&1 & echo $! >"{pid_file(process)}"'
    words = (sys.executable, "-c", LISTENS_THE_THIRD_TIME, str(process.config), str(tmp_path / "tries"), str(port))
    stubborn = process.service.model_copy(update={"start": ("sh", "-c", begin, "sh", *words)})
    server = broker(process.model_copy(update={"service": stubborn}), port)
    done = run(service.start(server))
    assert done.stdout == f"process {pid_file(process).read_text().strip()}, started 3 times\n"
    with socket.create_connection(("127.0.0.1", port)):
        pass
    run(service.kill(server))


def test_a_start_that_fails_is_told(process: ServerProcess) -> None:
    """With the status of the start script, at once."""
    assert isinstance(process.service, ScriptService)
    broken = process.service.model_copy(update={"start": ("sh", "-c", "exit 7")})
    done = run(service.start(process.model_copy(update={"service": broken})))
    assert (done.returncode, done.stderr) == (1, "the start failed with 7\n")


LEAVES_SLOWLY = 'trap "sleep 2; exit" TERM; while :; do sleep 0.1; done'


def leaving_slowly(process: ServerProcess) -> ServerProcess:
    """The same service, of a process that takes two seconds to end once it is asked to."""
    assert isinstance(process.service, ScriptService)
    begin = 'setsid sh -c "$1" "$2" </dev/null >/dev/null 2>&1 & echo $! >"$3"'
    start = ("sh", "-c", begin, "sh", LEAVES_SLOWLY, str(process.config), str(pid_file(process)))
    return process.model_copy(update={"service": process.service.model_copy(update={"start": start})})


def test_what_was_asked_to_stop_under_a_lease_is_no_running_process(process: ServerProcess, tmp_path: Path) -> None:
    """A lease that runs out during a slow shutdown waits for its end and starts anew, and is not content with it."""
    lease = {"CHAOSK_LEASE": str(tmp_path)}
    slow = leaving_slowly(process)
    assert run(service.start(slow), **lease).returncode == 0
    first = pid_file(process).read_text()
    assert run(service.stop(slow), **lease).returncode == 0
    assert run(service.is_running(slow)).returncode == 0
    assert run(service.start(slow), **lease).stdout.endswith("started 1 times\n")
    assert pid_file(process).read_text() != first
    wait(service.is_running(slow))
    os.kill(int(pid_file(process).read_text()), signal.SIGKILL)


def test_a_process_is_not_asked_to_stop_when_that_cannot_be_written_down(process: ServerProcess, pid: int) -> None:
    """On a full disk a lease would not know that the process is leaving."""
    done = run(service.stop(process), CHAOSK_LEASE="/proc/nowhere")
    assert done.returncode == 1
    assert "cannot write /proc/nowhere/leaving" in done.stderr
    assert run(service.is_running(process)).stdout.startswith(f"process {pid},")


def test_kill(process: ServerProcess, pid: int) -> None:
    """SIGKILL ends it; the stale pid file does not make it run."""
    assert run(service.kill(process)).stdout == f"process {pid} got KILL\n"
    wait(service.is_gone(process))
    assert pid_file(process).exists()
    again = run(service.kill(process))
    assert (again.returncode, again.stderr) == (1, "no process to kill\n")


def test_freeze_and_resume(process: ServerProcess, pid: int) -> None:
    """A stopped process runs, is frozen and not awake; resumed, the other way round."""
    assert run(service.is_frozen(process)).returncode == 1
    run(service.signal(process, "STOP"))
    wait(service.is_frozen(process))
    assert run(service.is_running(process)).returncode == 0
    assert run(service.is_awake(process)).stderr == f"process {pid}, state T\n"
    run(service.resume(process))
    wait(service.is_awake(process))


IDLE = "while :; do sleep 0.1; done"


@pytest.fixture
def java(tmp_path: Path) -> str:
    """A program of that name, which goes on for as long as it is let."""
    path = tmp_path / "java"
    shutil.copy(shutil.which("dash") or "", path)
    return str(path)


def test_the_java_process_in_a_script_is_the_server(process: ServerProcess, java: str) -> None:
    """The pid file names the script, which waits for Java: Java is frozen, and the script goes on; so is it killed.

    It may have started another one before, with another configuration, which is none of ours.
    """
    text = '"$0" -c "$1" "$3" & "$0" -c "$1" "$2"; kill $!; exit 0'
    with subprocess.Popen(["sh", "-c", text, java, IDLE, process.config or "", "other.properties"]) as around:
        pid_file(process).write_text(str(around.pid))
        wait(service.is_running(process))
        told = run(service.is_running(process)).stdout
        assert f"process {around.pid}," not in told
        server = told.split()[1].strip(",")
        assert (process.config or "") in Path(f"/proc/{server}/cmdline").read_text()
        assert run(service.signal(process, "STOP")).returncode == 0
        wait(service.is_frozen(process))
        assert run(service.kill(process)).returncode == 0
        assert around.wait(5) == 0
    assert run(service.is_gone(process)).returncode == 0


def test_of_several_java_processes_none_is_guessed_at(process: ServerProcess, java: str) -> None:
    """A script that has started two, and no configuration that tells them apart: neither gets a signal."""
    unknown = process.model_copy(update={"config": None})
    with subprocess.Popen(["sh", "-c", '"$0" -c "$1" & "$0" -c "$1" & wait', java, IDLE]) as around:
        pid_file(process).write_text(str(around.pid))
        end = time.monotonic() + 5
        while "several Java processes" not in (done := run(service.signal(unknown, "STOP"))).stderr:
            assert time.monotonic() < end, done
            time.sleep(0.05)
        assert done.returncode == 2
        subprocess.run(["pkill", "-P", str(around.pid)], check=True)


def test_a_script_without_a_server_in_it_gets_no_signal(process: ServerProcess) -> None:
    """To freeze it would show as done, and freeze nobody."""
    with subprocess.Popen(["sh", "-c", "sleep 600; exit 0", "sh", process.config or ""]) as around:
        pid_file(process).write_text(str(around.pid))
        wait(service.is_running(process))
        done = run(service.signal(process, "STOP"))
        assert (done.returncode, "around one" in done.stderr) == (1, True)
        subprocess.run(["pkill", "-P", str(around.pid)], check=True)


def test_resuming_what_is_dead_is_no_failure(process: ServerProcess) -> None:
    """The undo of a pause must work when the process died meanwhile."""
    assert run(service.resume(process)).returncode == 0


def test_a_supervisor_that_starts_it_again_is_noticed(process: ServerProcess, pid: int) -> None:
    """Once another process has taken its place, it is not gone."""
    run(service.kill(process))
    wait(service.is_gone(process))
    run(service.start(process))
    wait(service.is_running(process))
    gone = run(service.is_gone(process))
    assert gone.returncode == 1
    assert f"process {pid_file(process).read_text().strip()}" in gone.stderr
    assert pid_file(process).read_text() != f"{pid}\n"
    run(service.kill(process))


def test_a_replacement_with_no_pid_file_is_noticed_by_its_port(process: ServerProcess) -> None:
    """Whoever listens on the broker's port in its stead keeps it from being gone."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        said = run(service.is_gone(broker(process, port))).stderr
        assert said == f"no process, but someone listens on port {port}\n"
    assert run(service.is_gone(broker(process, port))).returncode == 0


def test_a_replacement_on_ipv6_is_noticed_as_well(process: ServerProcess) -> None:
    """A JVM listens on IPv6 sockets, also for IPv4."""
    with socket.create_server(("::1", 0), family=socket.AF_INET6) as listener:
        assert run(service.is_gone(broker(process, listener.getsockname()[1]))).returncode == 1


def test_a_process_id_that_was_used_again_is_not_believed(process: ServerProcess) -> None:
    """A process that does not name the configuration is someone else, and is not killed."""
    with subprocess.Popen(["sleep", "30"]) as innocent:
        pid_file(process).write_text(f"{innocent.pid}\n")
        assert run(service.is_running(process)).returncode == 1
        assert run(service.kill(process)).returncode == 1
        assert innocent.poll() is None
        innocent.kill()


def test_without_a_configuration_the_age_decides(process: ServerProcess) -> None:
    """A process younger than the pid file cannot be the one whose id was written down."""
    unknown = process.model_copy(update={"config": None})
    with subprocess.Popen(["sleep", "30"]) as other:
        pid_file(process).write_text(str(other.pid))
        assert run(service.is_running(unknown)).returncode == 0
        os.utime(pid_file(process), (time.time() - 3600,) * 2)
        assert run(service.is_running(unknown)).returncode == 1
        other.kill()


def test_a_configuration_with_a_like_name_is_another(process: ServerProcess) -> None:
    """The whole file name counts: my-server.properties is not server.properties."""
    with subprocess.Popen([sys.executable, "-c", SERVER, "/etc/my-server.properties"]) as other:
        pid_file(process).write_text(str(other.pid))
        assert run(service.is_running(process)).returncode == 1
        other.kill()


def test_a_zombie_does_not_run(process: ServerProcess) -> None:
    """A killed process whose parent has not looked yet is gone."""
    child = subprocess.Popen([sys.executable, "-c", SERVER, process.config or ""])
    pid_file(process).write_text(str(child.pid))
    wait(service.is_running(process))
    child.kill()
    wait(service.is_gone(process))
    child.wait()


@pytest.mark.parametrize("content", ["", "\n", "0", "nonsense", "999999999999", "-1"])
def test_a_pid_file_with_rubbish_names_nobody(process: ServerProcess, content: str) -> None:
    """No process, and no signal to a group or to everybody."""
    pid_file(process).write_text(content)
    assert run(service.is_running(process)).returncode == 1
    assert run(service.kill(process)).returncode == 1


SYSTEMCTL = """#!/bin/sh
echo "$*" >>"$CALLS"
[ "$1" != start ] || echo $PPID >"$CALLS.pid"
[ "$1" != show ] || cat "$CALLS.pid" 2>/dev/null || echo "$MAIN_PID"
exit "${STATUS:-0}"
"""


@pytest.fixture
def unit(tmp_path: Path) -> tuple[ServerProcess, dict[str, str], Path]:
    """A systemd service, and a `systemctl` that says what the test tells it and writes down what it was asked."""
    (tmp_path / "systemctl").write_text(SYSTEMCTL)
    (tmp_path / "systemctl").chmod(0o755)
    calls = tmp_path / "calls"
    env = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "CALLS": str(calls), "MAIN_PID": "0"}
    return ServerProcess(host="node1", service=SystemdService(systemd="kafka.service")), env, calls


def test_systemd_names_the_process(unit: tuple[ServerProcess, dict[str, str], Path]) -> None:
    """Its main process is the one; 0 means that there is none."""
    process, env, _ = unit
    assert run(service.is_running(process), **{**env, "MAIN_PID": str(os.getpid())}).returncode == 0
    assert run(service.is_gone(process), **env).returncode == 0
    assert run(service.is_running(process), **env).returncode == 1


def test_systemd_that_does_not_answer_proves_nothing(unit: tuple[ServerProcess, dict[str, str], Path]) -> None:
    """A failing systemctl is neither `runs` nor `gone`."""
    process, env, _ = unit
    for query in (service.is_running(process), service.is_gone(process)):
        assert run(query, **{**env, "STATUS": "1"}).returncode == 2  # who looks while a fault lasts has no answer


def test_systemd_starts_and_stops(unit: tuple[ServerProcess, dict[str, str], Path]) -> None:
    """The unit is stopped even without a process (systemd may be about to restart it), and its failures forgotten."""
    process, env, calls = unit
    run(service.stop(process), **env)
    assert "started 1 times" in run(service.start(process), **env).stdout
    asked = [call for call in calls.read_text().splitlines() if not call.startswith("show")]
    assert asked == ["stop -- kafka.service", "reset-failed -- kafka.service", "start -- kafka.service"]


def marks(query: Command, kind: str, **env: str) -> list[str]:
    """The marks of a kind in what a question that is answered with yes says."""
    done = run(query, **env)
    assert done.returncode == 0, done
    return [line for line in done.stdout.splitlines() if line.startswith(f"mark {kind} ")]


def test_a_process_that_was_started_and_killed_again_leaves_a_mark(process: ServerProcess, pid: int) -> None:
    """Gone is gone, but by its pid file it was there in between; the same one as long as nobody starts it."""
    os.kill(pid, signal.SIGKILL)
    wait(service.is_gone(process))
    first = marks(service.is_gone(process), "start")
    assert len(first) == 1
    assert marks(service.is_gone(process), "start") == first
    assert run(service.start(process)).returncode == 0
    os.kill(int(pid_file(process).read_text()), signal.SIGKILL)
    wait(service.is_gone(process))
    assert marks(service.is_gone(process), "start") != first
    pid_file(process).unlink()
    assert marks(service.is_gone(process), "start") == [], "nothing there tells of a start"


def test_a_frozen_process_that_ran_for_a_moment_leaves_a_mark(process: ServerProcess, pid: int) -> None:
    """Its threads have run once more, and so has any other one in its place."""
    os.kill(pid, signal.SIGSTOP)
    wait(service.is_frozen(process))
    first = marks(service.is_frozen(process), "stop")
    assert len(first) == 1
    time.sleep(0.5)
    assert marks(service.is_frozen(process), "stop") == first
    os.kill(pid, signal.SIGCONT)
    os.kill(pid, signal.SIGSTOP)
    wait(service.is_frozen(process))
    time.sleep(0.1)
    assert marks(service.is_frozen(process), "stop") != first


def test_who_started_it_again_is_told(process: ServerProcess, pid: int) -> None:
    """Since when, and by whom: its parent as the kernel names it."""
    parent = Path(f"/proc/{pid}/status").read_text().partition("PPid:")[2].split()[0]
    name = Path(f"/proc/{parent}/comm").read_text().strip()
    said = run(service.is_gone(process)).stderr
    assert said.startswith(f"process {pid}, state ")
    assert f" s ago by process {parent} ({name})" in said


def test_a_unit_that_starts_it_again_is_told(tmp_path: Path) -> None:
    """With its Restart= and RestartSec, by which a reader knows what to do; the last start is one by its id."""
    tool = tmp_path / "systemctl"
    tool.write_text(
        'case "$*" in\n'
        f"*MainPID*) cat {tmp_path}/pid ;;\n*InvocationID*) echo 0badcafe ;;\n"
        "*Restart=*|*Restart*) printf '%s\\n' Restart=on-failure RestartUSec=5s NRestarts=2 ;;\nesac\n"
    )
    tool.chmod(0o755)
    unit = ServerProcess(host="node1", service=SystemdService(systemd="kafka.service"))
    path = f"{tmp_path}:{os.environ['PATH']}"
    (tmp_path / "pid").write_text(f"{os.getpid()}\n")
    said = run(service.is_gone(unit), PATH=path).stderr
    assert ", in kafka.service, which has Restart=on-failure and RestartSec=5s, and was started again 2 times" in said
    (tmp_path / "pid").write_text("0\n")
    assert marks(service.is_gone(unit), "start", PATH=path) == ["mark start 0badcafe"]
