"""swap_certificate: what it has a broker show, and that it has it show the former one again."""

from __future__ import annotations

import base64
from dataclasses import replace

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from sample_inventory import secured

from chaosk.core.errors import StepError
from chaosk.hosts.certificate import untrusted_certificate
from chaosk.lab import certificates
from chaosk.spec.contracts.step import Run, Site
from chaosk.spec.entity import Entity, Settings
from chaosk.spec.inventory import Inventory

from .conftest import BROKERS, HOSTS, site, step

SWAP = "swap_certificate: {target: it}"
SHOWN = Entity(kind="certificate", name="1", listener="CLIENT")
KEYSTORE = Entity(kind="broker", name="1")
LOCATION, TYPE = (f"listener.name.client.ssl.keystore.{name}" for name in ("location", "type"))
OWN = certificates.issue(certificates.authority("an authority"), "kafka2.example.com")
DER = base64.b64encode(x509.load_pem_x509_certificate(OWN.certificate.encode()).public_bytes(Encoding.DER)).decode()


def at(inventory: Inventory, former: dict[str, str] | None = None) -> Site:
    """Where the target ``it`` is broker 1, which shows its own certificate; those settings were set on it."""
    shown = {"sha256": "5" * 64, "certificate": DER}
    return replace(site(secured(inventory), it=BROKERS[1:2]), former={SHOWN: shown, KEYSTORE: former or {}})


def test_the_stranger_says_what_the_own_one_says() -> None:
    """Subject, names and dates: else a broker would not take it; signed by itself, and the same whenever it is made."""
    own = x509.load_pem_x509_certificate(OWN.certificate.encode())
    made = untrusted_certificate(DER, "run/entry/1")
    other = x509.load_pem_x509_certificate(made.pem.encode())
    assert (other.subject, other.not_valid_before_utc) == (own.subject, own.not_valid_before_utc)
    assert other.not_valid_after_utc == own.not_valid_after_utc
    names = x509.SubjectAlternativeName
    assert other.extensions.get_extension_for_class(names) == own.extensions.get_extension_for_class(names)
    other.verify_directly_issued_by(other)
    assert made == untrusted_certificate(DER, "run/entry/1")
    assert made.sha256 != untrusted_certificate(DER, "run/entry/2").sha256


def test_a_broker_is_given_it_and_its_own_again(inventory: Inventory) -> None:
    """On its own host, asked at the broker itself; what was not set is removed again, and the rest set."""
    where = at(inventory, {LOCATION: "/etc/own.pem"})
    (put,), (lift,) = (
        [deed.command for deed in deeds if isinstance(deed, Run)]
        for deeds in (step(SWAP).inject(where), step(SWAP).undo(where))
    )
    address = ":".join(map(str, inventory.client_addresses()[1]))
    assert (put.host, put.argv[4], put.argv[7:9], put.argv[10:]) == (
        "node2", "put", (address, "1"), ("listener.name.client.ssl.keystore",),
    )  # fmt: skip
    assert put.stdin == untrusted_certificate(DER, f"{where.run_id}/{where.entry}/1").pem
    assert (lift.host, lift.argv[4], lift.argv[9]) == ("node2", "lift", put.argv[9])
    assert lift.argv[10:] == (f"{LOCATION}=/etc/own.pem", TYPE)
    assert lift.stdin is None


def test_it_took_if_it_is_shown(inventory: Inventory) -> None:
    """And is healed once the former one is, and the settings are as they were."""
    where = at(inventory)
    other = untrusted_certificate(DER, f"{where.run_id}/{where.entry}/1").sha256
    assert [fact.query for fact in step(SWAP).verify(where)] == [Settings(of=SHOWN, values={"sha256": other})]
    assert [fact.query for fact in step(SWAP).healed(where)] == [
        Settings(of=KEYSTORE, values={LOCATION: None, TYPE: None}),
        Settings(of=SHOWN, values={"sha256": "5" * 64}),
    ]


def test_the_broker_counts_as_taken_away(inventory: Inventory) -> None:
    """From whoever connects anew; two certificates at one listener exclude each other."""
    (harm,) = step(SWAP).harm(at(inventory))
    assert [str(one) for one in harm.away] != []
    assert list(step(SWAP).holds(at(inventory))) == ["certificate of broker 1 at CLIENT"]


@pytest.mark.parametrize(
    ("more", "text", "why"),
    [
        ({"client": {}}, SWAP, "come in without TLS"),
        ({"client": {"security.protocol": "SASL_PLAINTEXT"}}, SWAP, "come in without TLS"),
        ({}, "swap_certificate: {target: it, listener: OTHER}", "has no listener OTHER in the inventory"),
    ],
)
def test_where_no_certificate_is_shown_none_is_swapped(
    inventory: Inventory, more: dict[str, object], text: str, why: str
) -> None:
    """Refused before anything is done."""
    where = replace(at(inventory), inventory=secured(inventory, **more))
    for asked in (step(text).suits, step(text).before, step(text).changes):
        with pytest.raises(StepError, match=why):
            list(asked(where))


def test_only_brokers_show_certificates(inventory: Inventory) -> None:
    """A host has none."""
    with pytest.raises(StepError, match="host node1 is no broker"):
        list(step(SWAP).inject(site(secured(inventory), it=HOSTS[:1])))
