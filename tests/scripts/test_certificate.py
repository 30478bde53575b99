"""The script that has a broker show another certificate, with a tool that writes down what it is asked."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from chaosk.hosts.scripts import script

SHELLS = [words for words in (["dash"], ["bash"], ["busybox", "sh"]) if shutil.which(words[0])]
CLIENT = "security.protocol=SSL\nssl.truststore.location=/etc/ca.jks\nssl.truststore.password=secret\n"
WORDS = ("a:1", "2", "0f", "listener.name.x.ssl.keystore")


class Host:
    """A Kafka whose tool keeps what it is asked, and the file of client properties that it was given."""

    def __init__(self, root: Path, shell: list[str], fails: str = "nothing") -> None:
        """``fails``: the tool fails where its words hold this."""
        self.root, self.shell = root, shell
        (root / "bin").mkdir()
        (root / "client").write_text(CLIENT)
        given = f'for word; do [ "$last" != --command-config ] || cat "$word" >>{root}/given; last=$word; done'
        text = f'#!/bin/sh\necho "$@" >>{root}/asked\n{given}\ncase "$*" in *{fails}*) echo no; exit 1 ;; esac\n'
        for name, does in (
            ("bin/kafka-configs.sh", text),
            ("setpriv", '#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n'),
        ):
            (root / name).write_text(does)
            (root / name).chmod(0o755)

    def ask(self, action: str, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """Run the script as it is run on a host, but for root and for where it keeps the file."""
        text = script("certificate").replace("/var/lib/chaosk-certificates", f"{self.root}/kept")
        argv = [*self.shell, "-c", text, "chaosk", action, str(self.root), str(self.root / "client"), *words]
        path = {"PATH": f"{self.root}:/usr/bin:/bin"}
        return subprocess.run(argv, env=path, input=stdin, capture_output=True, text=True, check=False, timeout=60)

    @property
    def asked(self) -> list[str]:
        """What the tool was asked, call by call."""
        return (self.root / "asked").read_text().splitlines()


@pytest.fixture(params=SHELLS, ids=lambda words: words[0])
def shell(request: pytest.FixtureRequest) -> list[str]:
    """Each shell that a host may have."""
    words: list[str] = request.param
    return words


def test_it_is_put_and_lifted(tmp_path: Path, shell: list[str]) -> None:
    """The broker can read it; to lift it the tool trusts that one and no other, and nothing is left on the host."""
    host = Host(tmp_path, shell)
    done = host.ask("put", *WORDS, stdin="PEM\n")
    assert (done.returncode, done.stderr) == (0, "")
    file = tmp_path / "kept/0f.pem"
    assert (file.read_text(), file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (
        "PEM\n",
        0o644,
        0o755,
    )
    assert host.asked[0].endswith(
        f"--entity-type brokers --entity-name 2 --add-config {WORDS[3]}.location={file},{WORDS[3]}.type=PEM"
    )
    (tmp_path / "given").unlink()
    done = host.ask("lift", *WORDS[:3], f"{WORDS[3]}.location=/own", f"{WORDS[3]}.type")
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "given").read_text() == (
        f"security.protocol=SSL\n\nssl.truststore.type=PEM\nssl.truststore.location={file}\n"
    )
    assert host.asked[1].endswith(f"--add-config {WORDS[3]}.location=/own --delete-config {WORDS[3]}.type")
    assert list((tmp_path / "kept").iterdir()) == []


def test_where_the_own_one_is_shown_already_the_usual_trust_serves(tmp_path: Path, shell: list[str]) -> None:
    """Put got only half way, or it was lifted before: the second try is with the file as it is."""
    host = Host(tmp_path, shell, fails="0f.pem.properties")
    assert host.ask("put", *WORDS, stdin="PEM\n").returncode == 0
    assert host.ask("lift", *WORDS[:3], f"{WORDS[3]}.type").returncode == 0
    assert host.ask("lift", *WORDS[:3], f"{WORDS[3]}.type").returncode == 0
    assert [f"{tmp_path}/client" in one.split() for one in host.asked] == [True, False, True, True]


def test_what_is_not_lifted_stays_to_be_lifted(tmp_path: Path, shell: list[str]) -> None:
    """A broker that does not answer: a failure, and the next try trusts the same certificate."""
    host = Host(tmp_path, shell, fails="--delete-config")
    assert host.ask("put", *WORDS, stdin="PEM\n").returncode == 0
    done = host.ask("lift", *WORDS[:3], f"{WORDS[3]}.type")
    assert (done.returncode, done.stderr) == (1, "no\n")
    assert (tmp_path / "kept/0f.pem").exists()


def test_client_properties_that_only_say_whom_to_trust(tmp_path: Path, shell: list[str]) -> None:
    """Of such a file nothing is left for the way back, and that is no failure."""
    host = Host(tmp_path, shell)
    (tmp_path / "client").write_text("ssl.truststore.location=/etc/ca.jks\n")
    assert host.ask("put", *WORDS, stdin="PEM\n").returncode == 0
    done = host.ask("lift", *WORDS[:3], f"{WORDS[3]}.type")
    assert (done.returncode, done.stderr) == (0, "")
    assert list((tmp_path / "kept").iterdir()) == []
