"""The script that has Kafka's own tool change settings, with a tool that answers as Kafka 3.9.2 and 4.2 do."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from chaosk.hosts.scripts import script

SHELLS = [words for words in (["dash"], ["bash"], ["busybox", "sh"]) if shutil.which(words[0])]
MISSING = """\
Error while executing config command with args '--bootstrap-server a:1 --alter'
org.apache.kafka.common.errors.InvalidConfigurationException: Invalid config(s): {}
	at kafka.admin.ConfigCommand$.alterConfig(ConfigCommand.scala:370)"""


class Host:
    """A Kafka whose tool keeps what it is asked, and refuses to remove what is not set."""

    def __init__(self, root: Path, missing: str = "", *, fails: str = "") -> None:
        """``missing``: what is not set, as Kafka lists it; ``fails``: what it says whatever it is asked."""
        self.root = root
        (root / "bin").mkdir()
        (root / "said").write_text(MISSING.format(missing))
        refuse = f"cat {root}/said; exit 1"
        tool = [
            "#!/bin/sh", f'echo "$@" >>{root}/asked', f"[ -z '{fails}' ] || {{ echo '{fails}'; exit 1; }}",
            *(f'case "$*" in *--delete-config*{name}*) {refuse} ;; esac' for name in missing.split(", ") if name),
        ]  # fmt: skip
        for name in ("kafka-configs.sh", "kafka-acls.sh"):
            path = root / "bin" / name
            path.write_text("\n".join(tool).replace("asked", "asked" if "configs" in name else "acls") + "\n")
            path.chmod(0o755)

    def ask(self, action: str, *words: str, shell: list[str] | None = None) -> subprocess.CompletedProcess[str]:
        """Run the script as it is run on a host, but for root."""
        setpriv = self.root / "setpriv"
        setpriv.write_text('#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n')
        setpriv.chmod(0o755)
        argv = [*(shell or ["sh"]), "-c", script("settings"), "chaosk", action, str(self.root), *words]
        path = f"{self.root}:/usr/bin:/bin"
        return subprocess.run(argv, env={"PATH": path}, capture_output=True, text=True, check=False, timeout=60)

    @property
    def asked(self) -> list[str]:
        """What the tool was asked, call by call."""
        return (self.root / "asked").read_text().splitlines()


@pytest.mark.parametrize("shell", SHELLS, ids=lambda words: words[0])
@pytest.mark.parametrize(
    ("whose", "named"),
    [
        (("2", "", ""), "--entity-type brokers --entity-name 2"),
        (("", "", "writer"), "--entity-type clients --entity-name writer"),
        (("", "ann", "writer"), "--entity-type users --entity-name ann --entity-type clients --entity-name writer"),
    ],
)
def test_one_call_sets_and_removes(tmp_path: Path, shell: list[str], whose: tuple[str, ...], named: str) -> None:
    """Whose settings they are, by name; with a file of client properties only where there is one."""
    host = Host(tmp_path)
    done = host.ask("change", "", "a:1,b:1", *whose, "x=1", "y", "z=2", shell=shell)
    assert (done.returncode, done.stderr) == (0, "")
    assert host.asked == [f"--bootstrap-server a:1,b:1 --alter {named} --add-config x=1,z=2 --delete-config y"]
    host.ask("change", "/etc/client", "a:1", *whose, "x=1", shell=shell)
    assert host.asked[1] == f"--bootstrap-server a:1 --alter --command-config /etc/client {named} --add-config x=1"


@pytest.mark.parametrize("shell", SHELLS, ids=lambda words: words[0])
def test_what_is_not_set_needs_no_removing(tmp_path: Path, shell: list[str]) -> None:
    """Kafka refuses the whole call then; the rest is done by a second one, and nothing where nothing is left."""
    host = Host(tmp_path, "b.b, c")
    done = host.ask("change", "", "a:1", "2", "", "", "a", "b.b", "c", "d=1", shell=shell)
    assert (done.returncode, done.stderr) == (0, "")
    assert [call.partition("2 ")[2] for call in host.asked] == [
        "--add-config d=1 --delete-config a,b.b,c", "--add-config d=1 --delete-config a",
    ]  # fmt: skip
    assert host.ask("change", "", "a:1", "2", "", "", "b.b", "c", shell=shell).returncode == 0
    assert len(host.asked) == 3


@pytest.mark.parametrize("says", ["Timed out waiting for a node assignment.", "Invalid config(s): other"])
def test_any_other_failure_is_one(tmp_path: Path, says: str) -> None:
    """With what the tool said; a refusal of something else is asked about once more, and no more."""
    done = Host(tmp_path, fails=says).ask("change", "", "a:1", "2", "", "", "x")
    assert done.returncode == 1
    assert says in done.stderr


def test_a_host_without_the_tool_or_its_file_is_told(tmp_path: Path) -> None:
    """Before anything is done."""
    host = Host(tmp_path)
    assert host.ask("fits", "").returncode == 0
    gone = host.ask("fits", str(tmp_path / "client.properties"))
    assert (gone.returncode, gone.stderr) == (
        1,
        f"{tmp_path}/client.properties cannot be read by the account that {tmp_path}/bin/kafka-configs.sh belongs to\n",
    )
    (tmp_path / "bin" / "kafka-configs.sh").unlink()
    assert host.ask("fits", "").stderr == f"there is no {tmp_path}/bin/kafka-configs.sh\n"


@pytest.mark.parametrize("shell", SHELLS, ids=lambda words: words[0])
@pytest.mark.parametrize(
    ("action", "words", "told"),
    [
        (
            "grant", ("topic", "orders", "deny", "User:CN=a b", "write"),
            ("--add --force --topic orders --resource-pattern-type literal --command-config /etc/client "
             "--deny-principal User:CN=a b --operation Write"),
        ),
        (
            "withdraw", ("transactional_id", "t", "allow", "User:*", "all"),
            ("--remove --force --transactional-id t --resource-pattern-type literal --command-config /etc/client "
             "--allow-principal User:* --operation All"),
        ),
    ],
)  # fmt: skip
def test_one_acl_is_added_or_taken_away(
    tmp_path: Path, shell: list[str], action: str, words: tuple[str, ...], told: str
) -> None:
    """Of exactly that resource, principal and operation: the tool would take away all that it is not told of."""
    host = Host(tmp_path)
    done = host.ask(action, "/etc/client", "a:1", *words, shell=shell)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "acls").read_text().splitlines() == [f"--bootstrap-server a:1 {told}"]


@pytest.mark.parametrize(
    "words",
    [
        ("cluster", "kafka", "deny", "User:a", "write"),
        ("topic", "orders", "deny", "User:a", "alter"),
        ("topic", "orders", "own", "User:a", "write"),
        ("topic", "orders", "deny", "User:a"),
    ],
)
def test_nothing_else_is_an_acl(tmp_path: Path, words: tuple[str, ...]) -> None:
    """Refused before the tool is started."""
    assert Host(tmp_path).ask("withdraw", "", "a:1", *words).returncode == 1
    assert not (tmp_path / "acls").exists()


def test_a_tool_that_fails_is_told(tmp_path: Path) -> None:
    """With what it said."""
    done = Host(tmp_path, fails="SECURITY_DISABLED").ask("grant", "", "a:1", "group", "g", "deny", "User:a", "read")
    assert (done.returncode, done.stderr) == (1, "SECURITY_DISABLED\n")
