"""What a server's account can have root do by what it puts in its own folders: nothing that it cannot do itself."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from account import AS_ACCOUNT, GROUP, KAFKA, as_account, busy, reached_by_all
from bystander import lives

from chaosk.hosts.scripts import script

pytestmark = pytest.mark.lab

Ask = Callable[..., subprocess.CompletedProcess[str]]
WORDS = "nobody but root reads this\n"
OTHER = 54322
"""A third account."""


@pytest.fixture
def yard() -> Iterator[Path]:
    """A folder of the account's, and in it a data directory with a partition of one segment."""
    with reached_by_all() as made:
        log = made / "disks" / "data" / "orders-0"
        log.mkdir(parents=True)
        (log / f"{0:020}.log").write_bytes(b"batch" * 4096)
        for path in (made, *made.rglob("*")):
            os.chown(path, KAFKA, GROUP)
        yield made


@pytest.fixture
def secret(tmp_path: Path) -> Iterator[Path]:
    """A file of root's; after the test it is what it was."""
    path = tmp_path / "secret"
    path.write_text(WORDS * 1000)
    path.chmod(0o600)
    before = path.stat()
    yield path
    after = path.stat()
    assert path.read_text() == WORDS * 1000, "root has written through a link"
    assert (after.st_uid, after.st_gid, after.st_mode) == (before.st_uid, before.st_gid, before.st_mode)


@pytest.fixture
def ask() -> Iterator[Ask]:
    """A script, as root, with notes in a place of the test's own."""
    with reached_by_all() as kept:

        def run(name: str, *words: str | Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
            text = script(name).replace("/var/lib/chaosk", str(kept / "chaosk"))
            argv = ["sh", "-c", text, "chaosk", *map(str, words)]
            return subprocess.run(argv, capture_output=True, text=True, check=False, input=stdin)

        yield run


def server(tmp_path: Path) -> tuple[str, str, str]:
    """One that does not run."""
    (tmp_path / "pid").write_text("0")
    return "script", str(tmp_path / "pid"), ""


def test_no_segment_is_written_through_a_link(ask: Ask, yard: Path, secret: Path, tmp_path: Path) -> None:
    """`corrupt` opens segments as their account: one that is a link is none, and one that becomes one leads nowhere."""
    data = yard / "disks" / "data"
    segment = data / "orders-0" / f"{0:020}.log"
    words = ("0a", data, *server(tmp_path), "orders-0")
    link = data / "orders-0" / f"{9:020}.log"
    link.symlink_to(secret)
    assert f"{segment} has" in ask("corrupt", "fits", *words).stdout
    link.unlink()
    assert ask("corrupt", "corrupt", *words).returncode == 0
    assert b"#" * 512 in segment.read_bytes()
    with busy('mv -T "$1" "$1.mine" && ln -s "$2" "$1"; rm "$1"; mv -T "$1.mine" "$1"', str(segment), str(secret)):
        for _ in range(30):
            assert ask("corrupt", "mend", *words).returncode in {0, 1}
            assert ask("corrupt", "corrupt", *words).returncode in {0, 1}
    assert ask("corrupt", "mend", *words).returncode == 0


def test_the_owner_of_nothing_else_is_changed(ask: Ask, yard: Path, tmp_path: Path) -> None:
    """`restore` gives back in the directory itself: a link in its path would give others' files to the account."""
    data, others = yard / "disks" / "data", tmp_path / "others"
    (others / "data").mkdir(parents=True)
    os.chown(others / "data", 65534, 65534)
    assert ask("owner", "change", data, "0a", "nobody").returncode == 0
    assert data.stat().st_uid == 65534
    assert as_account('mv "$1" "$1.mine" && ln -s "$2" "$1"', str(data.parent), str(others)).wait() == 0
    assert "a link leads to" in ask("owner", "restore", data, "0a").stderr
    assert (others / "data").stat().st_uid == 65534
    assert as_account('rm "$1" && mv "$1.mine" "$1"', str(data.parent)).wait() == 0
    assert ask("owner", "restore", data, "0a").returncode == 0
    assert data.stat().st_uid == KAFKA


def test_no_file_is_made_or_removed_where_a_link_leads(ask: Ask, yard: Path, tmp_path: Path) -> None:
    """`fill` takes up room in the directory that the inventory names, and `empty` removes its own file."""
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "data").mkdir(parents=True)
    kept = elsewhere / "data" / "chaosk-0a"
    kept.touch()
    assert as_account('mv "$1" "$1.mine" && ln -s "$2" "$1"', str(yard / "disks"), str(elsewhere)).wait() == 0
    for action in (
        ("fits", "size", "4096"),
        ("fill", "size", "4096"),
        ("filled", "size", "4096"),
        ("empty",),
        ("gone",),
    ):
        done = ask("disk", action[0], yard / "disks" / "data" / "chaosk-0a", *action[1:])
        assert "a link leads to" in done.stderr
    assert kept.stat().st_size == 0


@pytest.mark.parametrize("action", ["change", "fits"])
def test_root_runs_no_tool_that_another_account_can_change(ask: Ask, tmp_path: Path, action: str) -> None:
    """One that is root's own runs as root, and loads what is in Kafka's folders: all of them must be root's alone."""
    with reached_by_all() as home:
        ran, tool = tmp_path / "ran", home / "bin" / "kafka-configs.sh"
        for name in ("bin", "libs", "config"):
            (home / name).mkdir()
        tool.write_text(f"#!/bin/sh\nid -u >>{ran}\n")
        tool.chmod(0o755)
        words = (home, "") if action == "fits" else (home, "", "b:9092", "1", "", "", "a=b")
        assert ask("settings", action, *words).returncode == 0
        for theirs in ("libs", "config", "bin"):
            os.chown(home / theirs, KAFKA, GROUP)
            ran.unlink(missing_ok=True)
            assert "is not root's alone" in ask("settings", action, *words).stderr
            assert not ran.exists()
            os.chown(home / theirs, 0, 0)
        (home / "libs" / "kafka.jar").touch()
        (home / "libs" / "kafka.jar").chmod(0o666)
        assert "is not root's alone" in ask("settings", action, *words).stderr


@pytest.mark.parametrize("words", [("{file}",), ("sh", "{file}")])
def test_root_runs_no_start_script_that_the_account_can_change(
    ask: Ask, yard: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    """Its own is run as the account; root's, where the account can put another in its place, by nobody."""
    file, ran = yard / "kafka-start.sh", yard / "ran"
    file.write_text(f"#!/bin/sh\nid -u >>{ran}\n")
    file.chmod(0o755)
    stop = ("stop", "script", str(tmp_path / "pid"), "", file, *(word.format(file=file) for word in words))
    with subprocess.Popen(["sleep", "60"]) as process:
        (tmp_path / "pid").write_text(str(process.pid))
        try:
            os.chown(file, KAFKA, GROUP)
            done = ask("service", *stop)
            assert done.returncode == 0, done.stderr
            assert ran.read_text() == f"{KAFKA}\n"
            os.chown(file, 0, 0)
            assert "another account can replace it: root does not run it" in ask("service", *stop).stderr
            assert ran.read_text() == f"{KAFKA}\n"
        finally:
            process.kill()
    assert f"program {file} shared" in ask("examine", "program", file).stdout


def test_no_start_script_runs_as_a_third_account(ask: Ask, yard: Path, others: Path, tmp_path: Path) -> None:
    """A link to another account's file: between the look and the run its account could have it lead to its own."""
    file, ran = yard / "kafka-start.sh", yard / "ran"
    ran.touch()
    ran.chmod(0o666)
    (others / "start.sh").write_text(f"#!/bin/sh\nid -u >>{ran}\n")
    (others / "start.sh").chmod(0o755)
    os.chown(others / "start.sh", OTHER, OTHER)
    assert as_account('ln -s "$1" "$2"', str(others / "start.sh"), str(file)).wait() == 0
    with subprocess.Popen(["sleep", "60"]) as process:
        (tmp_path / "pid").write_text(str(process.pid))
        assert ask("service", "stop", "script", tmp_path / "pid", "", file, file).returncode == 0
        process.kill()
    assert ran.read_text() == f"{KAFKA}\n"
    assert f"program {file} {KAFKA}\n" in ask("examine", "program", file).stdout


def test_a_folder_of_roots_among_partitions_gives_no_tool_to_root(ask: Ask, yard: Path, tmp_path: Path) -> None:
    """`lost+found` renamed to a partition is root's: the account's own tool is not run as root for it."""
    tool = yard / "bin" / "kafka-dump-log.sh"
    tool.parent.mkdir()
    tool.write_text(f"#!/bin/sh\nid -u >>{tmp_path}/ran\n")
    tool.chmod(0o755)
    data = yard / "disks" / "data"
    (data / "lost+found").mkdir(mode=0o700)
    (data / "lost+found" / f"{0:020}.log").touch()
    assert as_account('mv "$1" "$2"', str(data / "lost+found"), str(data / "pay-0")).wait() == 0
    assert "where it lies is not root's alone" in ask("dump", "markers", yard, data, "pay-0").stderr
    assert not (tmp_path / "ran").exists()


def test_a_certificate_brings_no_file_of_roots_to_the_account(ask: Ask, yard: Path, secret: Path) -> None:
    """Client properties are read as the account that the tool belongs to: a link leads it where it may go itself."""
    tool, config = yard / "bin" / "kafka-configs.sh", yard / "client.properties"
    tool.parent.mkdir()
    got = yard / "got"
    tool.write_text(f'#!/bin/sh\nwhile [ "$1" != --command-config ]; do shift; done; cat "$2" >>{got}; exit 1\n')
    tool.chmod(0o755)
    os.chown(tool, KAFKA, GROUP)
    config.symlink_to(secret)
    words = (yard, config, "b:9093", "1", "0a")
    assert ask("certificate", "put", *words, "ssl.keystore", stdin="key").returncode == 1
    done = ask("certificate", "lift", *words, "ssl.keystore.location")
    assert done.returncode == 1
    assert WORDS not in got.read_text("utf-8")


def test_a_device_in_place_of_the_file_is_not_written(ask: Ask, yard: Path, tmp_path: Path) -> None:
    """The shell's noclobber follows a link to what is no plain file: a pipe of root's stands for a disk here."""
    pipe, file = tmp_path / "pipe", yard / "disks" / "data" / "chaosk-0a"
    os.mkfifo(pipe, 0o600)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with busy('ln -s "$1" "$2"', str(pipe), str(file)):
            for _ in range(20):
                ask("disk", "fill", file, "size", "4096")
        assert os.read(reader, 1) == b""
    finally:
        os.close(reader)


def test_a_tool_of_the_accounts_has_no_group_of_roots(ask: Ask, yard: Path) -> None:
    """`chown -R kafka` leaves root's group on the file: the tool runs in the account's own."""
    tool, got = yard / "bin" / "kafka-configs.sh", yard / "got"
    tool.parent.mkdir()
    tool.write_text(f"#!/bin/sh\nid -g >{got}\nid -G >>{got}\n")
    tool.chmod(0o755)
    os.chown(tool, KAFKA, 0)
    assert ask("settings", "change", yard, "", "b:9092", "1", "", "", "a=b").returncode == 0
    assert "0" not in got.read_text().split()


def test_libraries_behind_a_folder_of_the_accounts_are_not_run_by_root(ask: Ask, yard: Path) -> None:
    """`libs` is a link to a folder of root's, in a folder of the account's, which may put another there."""
    with reached_by_all() as home:
        (home / "bin").mkdir()
        (home / "bin" / "kafka-configs.sh").write_text("#!/bin/sh\n")
        (home / "bin" / "kafka-configs.sh").chmod(0o755)
        (yard / "libs").mkdir()
        assert ask("settings", "fits", home, "").returncode == 0
        (home / "libs").symlink_to(yard / "libs")
        assert "is not root's alone" in ask("settings", "fits", home, "").stderr


def test_a_folder_that_the_account_cannot_read_is_not_listed_for_it(ask: Ask, yard: Path, tmp_path: Path) -> None:
    """A partition that is a link to a folder of root's: its names are not handed to the account's tool."""
    tool, got = yard / "bin" / "kafka-dump-log.sh", yard / "got"
    tool.parent.mkdir()
    tool.write_text(f'#!/bin/sh\necho "$@" >{got}\n')
    tool.chmod(0o755)
    hidden = tmp_path / "hidden"
    hidden.mkdir(mode=0o700)
    (hidden / "secret-name.log").touch()
    assert as_account('ln -s "$1" "$2"', str(hidden), str(yard / "disks" / "data" / "pay-0")).wait() == 0
    ask("dump", "markers", yard, yard / "disks" / "data", "pay-0")
    assert not got.exists() or "secret" not in got.read_text()


@pytest.fixture
def pipe(tmp_path: Path) -> Iterator[Path]:
    """A pipe of root's, which stands for a device; during the test nobody opens it to read."""
    path, opened = tmp_path / "device", threading.Event()
    os.mkfifo(path, 0o600)

    def wait() -> None:
        os.close(os.open(path, os.O_WRONLY))
        opened.set()

    waiting = threading.Thread(target=wait)
    waiting.start()
    try:
        yield path
        assert not opened.wait(0.1), "root has opened it"
    finally:
        os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
        waiting.join()


def test_what_looks_at_a_host_opens_no_device(ask: Ask, yard: Path, pipe: Path) -> None:
    """A watchdog that is opened resets its machine: neither a pid file nor a data directory leads root to one."""
    for name in ("pid", "disks/more"):
        assert as_account('ln -s "$1" "$2"', str(pipe), str(yard / name)).wait() == 0
    assert "absent" in ask("state", "script", yard / "pid", "data", yard / "disks" / "more").stdout
    assert f"space {yard}/disks/more " in ask("examine", "space", yard / "disks" / "more").stdout
    assert ask("service", "gone", "script", yard / "pid", "").stdout == "no process\n"


def test_names_are_listed_as_who_can_list_them(ask: Ask, yard: Path, tmp_path: Path) -> None:
    """A data directory that becomes a link tells nobody what is in a folder of root's."""
    hidden = tmp_path / "hidden"
    hidden.mkdir(mode=0o700)
    (hidden / "chaosk-secret").touch()
    (yard / "disks" / "data" / "chaosk-fill-0a").touch()
    assert f"data {yard}/disks/data/chaosk-fill-0a" in ask("state", "data", yard / "disks" / "data").stdout
    assert as_account('mv "$1" "$1.mine" && ln -s "$2" "$1"', str(yard / "disks" / "data"), str(hidden)).wait() == 0
    assert "secret" not in ask("state", "data", yard / "disks" / "data").stdout


@pytest.fixture
def others(yard: Path) -> Iterator[Path]:
    """A folder of another account's, that looks like the one the data directory is in."""
    with reached_by_all() as made:
        shutil.copytree(yard / "disks", made / "disks")
        for path in (made, *made.rglob("*")):
            os.chown(path, OTHER, OTHER)
        yield made / "disks"


def led_to(path: Path, there: Path) -> None:
    """The account puts a link in place of its own folder."""
    assert as_account('mv "$1" "$1.mine" && ln -s "$2" "$1"', str(path), str(there)).wait() == 0


def test_no_log_of_another_account_is_overwritten(ask: Ask, yard: Path, others: Path, tmp_path: Path) -> None:
    """`corrupt` acts as who owns the data directory itself: by a link it would be a hand in others' files."""
    words = ("0a", yard / "disks" / "data", *server(tmp_path), "orders-0")
    led_to(yard / "disks", others)
    for action in ("fits", "corrupt"):
        assert "a link leads to" in ask("corrupt", action, *words).stderr
    assert b"#" not in (others / "data" / "orders-0" / f"{0:020}.log").read_bytes()


def test_the_accounts_tool_runs_as_no_other_account(ask: Ask, yard: Path, others: Path) -> None:
    """`dump` runs it as who owns the partition: a link to one of another account gives it none of that one's rights."""
    tool, got = yard / "bin" / "kafka-dump-log.sh", yard / "got"
    tool.parent.mkdir()
    tool.write_text(f"#!/bin/sh\nid -u >>{got}\n")
    tool.chmod(0o755)
    got.touch()
    got.chmod(0o666)
    led_to(yard / "disks", others)
    ask("dump", "markers", yard, yard / "disks" / "data", "orders-0")
    assert str(OTHER) not in got.read_text().split()


def test_another_accounts_tool_is_no_way_to_its_rights(ask: Ask, yard: Path, others: Path) -> None:
    """The tool's folder leads to another account's: between the look and the run the account can lead it elsewhere."""
    got = yard / "got"
    got.touch()
    got.chmod(0o666)
    for bin_folder, owner in ((yard / "bin", KAFKA), (others / "bin", OTHER)):
        bin_folder.mkdir()
        (bin_folder / "kafka-configs.sh").write_text(f"#!/bin/sh\nid -u >>{got}\n")
        (bin_folder / "kafka-configs.sh").chmod(0o755)
        for path in (bin_folder, bin_folder / "kafka-configs.sh"):
            os.chown(path, owner, GROUP)
    led_to(yard / "bin", others / "bin")
    assert ask("settings", "change", yard, "", "b:9092", "1", "", "", "a=b").returncode == 0
    assert got.read_text().split() == [str(KAFKA)]


def test_links_of_roots_own_change_nobody(ask: Ask, yard: Path) -> None:
    """`/opt/kafka` that names an installation, and a disk that is mounted elsewhere: the owner is who it was."""
    with reached_by_all() as roots:
        (yard / "bin").mkdir()
        got = yard / "got"
        for name in ("kafka-configs.sh", "kafka-dump-log.sh"):
            (yard / "bin" / name).write_text(f"#!/bin/sh\nid -u >>{got}\n")
            (yard / "bin" / name).chmod(0o755)
            os.chown(yard / "bin" / name, KAFKA, GROUP)
        (roots / "kafka").symlink_to(yard)
        (roots / "disk").symlink_to(yard / "disks" / "data")
        assert ask("settings", "change", roots / "kafka", "", "b:9092", "1", "", "", "a=b").returncode == 0
        assert "status 0" in ask("dump", "markers", roots / "kafka", roots / "disk", "orders-0").stdout
        assert got.read_text().split() == [str(KAFKA)] * 2


def test_no_link_of_an_installation_is_made_in_a_folder_of_roots(ask: Ask, yard: Path, tmp_path: Path) -> None:
    """`point` replaces the link as the account whose folder it is in: else a file of root's might give way to it."""
    app, elsewhere = yard / "app", tmp_path / "elsewhere"
    app.mkdir()
    elsewhere.mkdir(mode=0o755)
    for folder in (app, elsewhere):
        (folder / "current").symlink_to("kafka-3.9.2")
    os.chown(app, KAFKA, GROUP)
    words = (app / "current", *server(tmp_path), "3.9.1", yard)
    assert ask("version", "point", *words).returncode == 0
    assert (str((app / "current").readlink()), (app / "current").lstat().st_uid) == (str(yard), KAFKA)
    assert ask("version", "back", *words[:4]).returncode == 0
    led_to(app, elsewhere)
    assert "a link leads to" in ask("version", "point", *words).stderr
    assert [path.name for path in elsewhere.iterdir()] == ["current"]
    assert str((elsewhere / "current").readlink()) == "kafka-3.9.2"


def test_an_installation_is_looked_through_as_its_account(ask: Ask, yard: Path, tmp_path: Path) -> None:
    """`find` follows links there, as Java does: what root alone may see is no jar of Kafka's."""
    hidden = tmp_path / "hidden"
    hidden.mkdir(mode=0o700)
    (hidden / "kafka-clients-3.9.1.jar").touch()
    (yard / "current").symlink_to("kafka-3.9.2")
    for version in ("3.9.1", "3.9.2"):
        (yard / f"kafka-{version}").mkdir()
        os.chown(yard / f"kafka-{version}", KAFKA, GROUP)
    assert as_account('ln -s "$1" "$2"', str(hidden), str(yard / "kafka-3.9.1" / "libs")).wait() == 0
    words = (yard / "current", *server(tmp_path), "3.9.1", yard / "kafka-3.9.1", "any")
    assert "is not installed there" in ask("version", "fits", *words).stderr


def test_a_tool_of_roots_is_given_no_file_that_others_can_lead_elsewhere(ask: Ask, yard: Path, secret: Path) -> None:
    """Client properties of a certificate that is lifted are read as root only where they are root's alone."""
    with reached_by_all() as home:
        got, tool = yard / "got", home / "bin" / "kafka-configs.sh"
        tool.parent.mkdir()
        tool.write_text(f'#!/bin/sh\nwhile [ "$1" != --command-config ]; do shift; done; cat "$2" >>{got}; exit 1\n')
        tool.chmod(0o755)
        got.touch()
        assert as_account('ln -s "$1" "$2"', str(secret), str(yard / "client.properties")).wait() == 0
        words = (home, yard / "client.properties", "b:9093", "1", "0a")
        assert ask("certificate", "put", *words, "ssl.keystore", stdin="key").returncode == 1
        assert ask("certificate", "lift", *words, "ssl.keystore.location").returncode == 1
        assert WORDS not in got.read_text("utf-8")


def test_a_pid_file_that_is_a_pipe_keeps_nobody_waiting(ask: Ask, yard: Path) -> None:
    """Else the account could keep every fault, and every heal, of its server from being carried out."""
    assert as_account('mkfifo "$1"', str(yard / "pid")).wait() == 0
    assert ask("service", "gone", "script", yard / "pid", "").stdout == "no process\n"


def test_a_file_of_roots_in_the_accounts_folder_names_none_of_roots_processes(ask: Ask, yard: Path) -> None:
    """The account may have renamed it: there it is worth what the account's word is."""
    (yard / "pid").write_text("")
    with lives("env") as roots, lives(*AS_ACCOUNT) as own:
        for pid, named in ((roots, False), (own, True)):
            (yard / "pid").write_text(str(pid))
            assert (yard / "pid").stat().st_uid == 0
            assert (f"process {pid}" in ask("service", "runs", "script", yard / "pid", "").stdout) is named


FORGED = """
import ctypes, os, sys, time
if os.fork() == 0:
    while True:
        ctypes.CDLL(None).prctl(15, sys.argv[1].encode().decode("unicode_escape").encode(), 0, 0, 0)
        time.sleep(1)
print(flush=True)
os.wait()
"""


def test_a_name_with_a_line_break_makes_no_child_of_another_process(ask: Ask, yard: Path, tmp_path: Path) -> None:
    """Names of processes are their accounts' to choose; and what is found below a script is that account's, too."""
    java = tmp_path / "java"
    shutil.copy(shutil.which("sleep") or "", java)
    with subprocess.Popen([java, "600"]) as victim:
        forged = f"x) S 1\\n{victim.pid} ("[:15]
        argv = [*AS_ACCOUNT, "/usr/bin/env", "python3", "-c", FORGED, forged]
        account = subprocess.Popen(argv, stdout=subprocess.PIPE, cwd="/")
        try:
            assert account.stdout is not None
            account.stdout.readline()
            (yard / "pid").write_text(str(account.pid))
            os.chown(yard / "pid", KAFKA, GROUP)
            assert f"process {victim.pid}" not in ask("service", "runs", "script", yard / "pid", "").stdout
            assert f"process {account.pid}" in ask("service", "runs", "script", yard / "pid", "").stdout
        finally:
            subprocess.run(["pkill", "-KILL", "-P", str(account.pid)], check=False)
            account.kill()
            account.communicate()
            victim.kill()


def test_an_account_names_no_process_of_another(ask: Ask, yard: Path) -> None:
    """Its pid file with the id of another account's process: that one is not the server, and gets no signal."""
    pid_file = yard / "pid"
    with lives("env") as other, lives(*AS_ACCOUNT) as own:
        for pid, named in ((other, False), (own, True)):
            pid_file.write_text(str(pid))
            os.chown(pid_file, KAFKA, GROUP)
            done = ask("service", "runs", "script", pid_file, "")
            assert (f"process {pid}" in done.stdout) is named, done.stderr
            assert (ask("service", "signal", "script", pid_file, "", "CONT").returncode == 0) is named
