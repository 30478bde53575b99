"""Settings of a login by OAUTHBEARER: which are needed, which are refused, and what they ask for."""

from __future__ import annotations

import pytest

from chaosk.cluster.oauthbearer import TokenEndpoint, canonical, endpoint, mistakes

WHOLE: dict[str, object] = {
    "sasl.oauthbearer.method": "oidc", "sasl.oauthbearer.client.id": "me", "sasl.oauthbearer.client.secret": "x",
    "sasl.oauthbearer.token.endpoint.url": "https://login.example.net/token",
}  # fmt: skip

pytestmark = pytest.mark.pure


def test_the_least_that_is_needed() -> None:
    """Four settings, by their older or newer names."""
    newer = {name.replace("client.", "client.credentials.client."): value for name, value in WHOLE.items()}
    for given in (WHOLE, newer):
        assert not list(mistakes(given))
        assert canonical(given) == WHOLE
        assert endpoint(given) == TokenEndpoint("https://login.example.net/token")


def test_all_that_may_be_asked_for() -> None:
    """Scope, authority and extensions; `probe` is the machine's own authorities, as for librdkafka."""
    more = {"sasl.oauthbearer.scope": "kafka", "sasl.oauthbearer.extensions": "logicalCluster=lkc-1,pool=a=b"}
    found = endpoint({**WHOLE, **more, "https.ca.location": "/etc/ca.pem"})
    assert (found.scope, found.ca) == ("kafka", "/etc/ca.pem")
    assert found.extensions == (("logicalCluster", "lkc-1"), ("pool", "a=b"))
    assert endpoint({**WHOLE, "https.ca.location": "probe"}).ca is None


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("value", [None, ""])
def test_each_that_is_missing_is_named(name: str, value: object) -> None:
    """With what to write; an empty value is none."""
    ((found, says),) = mistakes({**WHOLE, name: value})
    assert found == name
    assert "OAUTHBEARER needs it; write" in says


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("sasl.oauthbearer.method", "default", "only; write oidc"),
        ("sasl.oauthbearer.config", "principal=me", "leave it out"),
        ("enable.sasl.oauthbearer.unsecure.jwt", True, "leave it out"),
        ("sasl.oauthbearer.grant.type", "urn:ietf:params:oauth:grant-type:jwt-bearer", "leave it out"),
        ("sasl.oauthbearer.assertion.file", "/etc/assertion", "leave it out"),
        ("sasl.oauthbearer.metadata.authentication.type", "azure_imds", "leave it out"),
        ("sasl.oauthbearer.token.endpoint.url", "login.example.net", "begins with https://"),
        ("sasl.oauthbearer.token.endpoint.url", "https://[::1", "begins with https://"),
        ("sasl.oauthbearer.extensions", "a=b,c", "NAME=VALUE"),
    ],
)
def test_what_chaosk_cannot_do_is_refused(name: str, value: object, says: str) -> None:
    """The other ways to a token, by name."""
    ((found, what),) = mistakes({**WHOLE, name: value})
    assert found == name
    assert says in what


def test_values_that_change_nothing_are_accepted() -> None:
    """What librdkafka does by default may be written as well, in any case."""
    same = {
        "sasl.oauthbearer.method": "OIDC", "sasl.oauthbearer.grant.type": "client_credentials",
        "enable.sasl.oauthbearer.unsecure.jwt": False, "sasl.oauthbearer.metadata.authentication.type": "none",
    }  # fmt: skip
    assert not list(mistakes({**WHOLE, **same}))
