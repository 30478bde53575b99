"""Known host keys: wildcards, hashed names, certificates of hosts, and what no line vouches for, by a real server."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from chaosk.core.errors import HostError
from chaosk.hosts.transport.ssh import Ssh
from chaosk.hosts.transport.ssh.host_keys import known_keys
from chaosk.spec.command import Command

from .conftest import Sshd, make_key, serving

ED25519 = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKcZOcrsWLn3PmzQ6QVlFZXTZh1hPuU8cIe0DK9bT0oP"


def knows(names: str, host: str, port: int = 22, *, alias: bool = False) -> bool:
    """Whether a line with these names is about the server."""
    return bool(known_keys([f"{names} {ED25519}\n"], host, port, alias=alias).keys)


@pytest.mark.pure
@pytest.mark.parametrize(
    ("names", "host", "port"),
    [
        ("kafka1.example.com", "Kafka1.example.com", 22),
        ("*.example.com", "kafka1.example.com", 22),
        ("kafka?.example.com,192.0.2.*", "192.0.2.7", 22),
        ("[kafka1]:2222", "kafka1", 2222),
        ("[*]:2222", "kafka1", 2222),
        ("kafka1", "kafka1", 2222),
        ("[2001:db8::1]:2222", "2001:db8::1", 2222),
    ],
)
def test_lines_about_a_server(names: str, host: str, port: int) -> None:
    """Names, wildcards, ports and the name without one, as for ssh(1)."""
    assert knows(names, host, port)


@pytest.mark.pure
@pytest.mark.parametrize(
    ("names", "host", "port"),
    [
        ("*.example.com,!kafka1.example.com", "kafka1.example.com", 22),
        ("*.example.com", "example.com", 22),
        ("[kafka1]:2222", "kafka1", 22),
        ("kafka[12]", "kafka1", 22),
        ("# kafka1", "kafka1", 22),
    ],
)
def test_lines_about_others(names: str, host: str, port: int) -> None:
    """Near misses: negation, another port, and brackets, which are no wildcard."""
    assert not knows(names, host, port)


@pytest.mark.pure
def test_the_line_with_the_port_goes_first() -> None:
    """A key of the same machine's port 22 does not make up for a changed one at another port."""
    other = ED25519.replace("KcZO", "KcZP")
    found = known_keys([f"kafka1 {ED25519}\n[kafka1]:2222 {other}\n"], "kafka1", 2222)
    assert len(found.keys) == 1
    assert found.keys[0].patterns == ("[kafka1]:2222",)


@pytest.mark.pure
def test_an_alias_has_no_port() -> None:
    """HostKeyAlias replaces name and port."""
    assert knows("cluster", "cluster", 2222, alias=True)
    assert not knows("[cluster]:2222", "cluster", 2222, alias=True)


@pytest.mark.pure
@pytest.mark.parametrize(
    "line", ["kafka1 ssh-ed25519 !!!", "kafka1 ssh-rsa " + ED25519.split()[1], "@what kafka1 " + ED25519]
)
def test_a_line_that_cannot_be_read_vouches_for_nothing(line: str) -> None:
    """Damage, a kind that is not that of the key, an unknown marker."""
    assert known_keys([line], "kafka1", 22).keys == ()


@pytest.mark.pure
def test_certificates_are_asked_for_only_where_an_authority_is_known() -> None:
    """A server with both would otherwise show a certificate to somebody who knows its key only."""
    assert not any("cert" in one for one in known_keys([f"kafka1 {ED25519}"], "kafka1", 22).algorithms())
    both = known_keys([f"@cert-authority kafka* {ED25519}"], "kafka1", 22).algorithms()
    assert both[0] == "ssh-ed25519-cert-v01@openssh.com"
    assert "ssh-ed25519" in both


@pytest.fixture(scope="module")
def certified(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd]:
    """A server that can show a certificate; its authority is ``ca`` in the same folder."""
    folder = tmp_path_factory.mktemp("certified")
    make_key(folder / "ca")
    with serving(folder, f"HostCertificate {folder}/host_key-cert.pub") as server:
        yield server


def connect(server: Sshd, folder: Path, known: str, *signing: str) -> None:
    """Log in with this text of known_hosts, to the server with a new certificate."""
    if signing:
        words: list[str | Path] = [
            "ssh-keygen",
            "-q",
            "-s",
            server.folder / "ca",
            "-I",
            "kafka1",
            *signing,
            server.folder / "host_key.pub",
        ]
        subprocess.run(words, check=True)
        server.stop()
        server.start()
    (folder / "known_hosts").write_text(known)
    transport = Ssh({"node1": server.host(known_hosts=str(folder / "known_hosts"))})
    try:
        assert transport.run(Command(host="node1", argv=("true",))).ok
    finally:
        transport.close()


def authority(server: Sshd, names: str = "*") -> str:
    """A line that trusts the server's authority."""
    return f"@cert-authority {names} {(server.folder / 'ca.pub').read_text()}"


def refused(server: Sshd, folder: Path, known: str, *signing: str) -> str:
    """Why it is refused."""
    with pytest.raises(HostError) as caught:
        connect(server, folder, known, *signing)
    return str(caught.value)


@pytest.mark.lab
def test_a_certificate_of_a_known_authority(certified: Sshd, tmp_path: Path) -> None:
    """The key itself is on no line; a revoked authority or key outweighs it."""
    connect(certified, tmp_path, authority(certified), "-h", "-n", "127.0.0.1")
    ca = (certified.folder / "ca.pub").read_text()
    assert "is revoked" in refused(certified, tmp_path, f"{authority(certified)}@revoked * {ca}")
    own = (certified.folder / "host_key.pub").read_text()
    assert "is revoked" in refused(certified, tmp_path, f"{authority(certified)}@revoked * {own}")


@pytest.mark.lab
def test_a_known_key_suffices_beside_a_certificate_of_another_authority(certified: Sshd, tmp_path: Path) -> None:
    """As with ssh(1), the certificate then counts as its plain key; without that line it is refused."""
    certify = ("-h", "-n", "127.0.0.1")
    other = f"@cert-authority * {make_key(tmp_path / 'other')}\n"
    known = (certified.folder / "known_hosts").read_text()
    connect(certified, tmp_path, other + known, *certify)
    assert "is not in" in refused(certified, tmp_path, other)


@pytest.mark.lab
@pytest.mark.parametrize(
    ("signing", "says"),
    [
        (("-h", "-n", "elsewhere.example.com"), "it is for elsewhere.example.com, not for 127.0.0.1"),
        (("-h", "-n", "127.0.0.1", "-V", "20200101:20200201"), "it is not valid at this time"),
        (("-h",), "it is for no host at all"),
    ],
)
def test_a_certificate_that_does_not_count(
    certified: Sshd, tmp_path: Path, signing: tuple[str, ...], says: str
) -> None:
    """Another host's, an expired one, one that names nobody: each with its reason."""
    assert says in refused(certified, tmp_path, authority(certified), *signing)


@pytest.mark.lab
def test_an_authority_for_other_names(certified: Sshd, tmp_path: Path) -> None:
    """A line for other hosts vouches for nothing here."""
    said = refused(certified, tmp_path, authority(certified, "*.example.com"), "-h", "-n", "127.0.0.1")
    assert "is not in" in said


@pytest.mark.lab
def test_hashed_names(certified: Sshd, tmp_path: Path) -> None:
    """As `ssh-keygen -H` writes them; a hash of another name is no proof."""
    known = tmp_path / "known_hosts"
    known.write_text((certified.folder / "known_hosts").read_text())
    subprocess.run(["ssh-keygen", "-q", "-H", "-f", known], check=True, capture_output=True)
    assert known.read_text().startswith("|1|")
    connect(certified, tmp_path, known.read_text())
    known.write_text(f"elsewhere {(certified.folder / 'host_key.pub').read_text()}")
    subprocess.run(["ssh-keygen", "-q", "-H", "-f", known], check=True, capture_output=True)
    assert "is not in" in refused(certified, tmp_path, known.read_text())
