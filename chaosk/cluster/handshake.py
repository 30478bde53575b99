"""Messages and remedies for failed TLS handshakes. Pure."""

from __future__ import annotations

import ssl

_DATES = {9, 10}  # X509_V_ERR_CERT_NOT_YET_VALID, X509_V_ERR_CERT_HAS_EXPIRED
_NAMES = {62, 64}  # X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH


def failure(error: ssl.SSLError) -> str:
    """Describe why there is no connection."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not accepted: {error.verify_message}"
    if isinstance(error, ssl.SSLEOFError | ssl.SSLZeroReturnError):
        return "no TLS connection: it was closed from there"
    said = (error.reason or error.strerror or str(error)).lower().replace("_", " ")
    return f"no TLS connection: {said}"


def todo(error: ssl.SSLError) -> str:
    """Return the remedy for a person."""
    if not isinstance(error, ssl.SSLCertVerificationError):
        return "see that this listener speaks TLS, and whether it wants a certificate of its clients"
    if error.verify_code in _DATES:
        return "renew the certificate of that listener, or set the clock of this machine"
    if error.verify_code in _NAMES:
        return "issue the certificate for the address in the inventory, or write an address there that it covers"
    return "have client: ssl.ca.location name the certificate of the authority that signed it"
