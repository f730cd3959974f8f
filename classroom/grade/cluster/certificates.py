"""Certificates for a cluster of Dask: whoever has them may send it work and read its results, and nobody else can.

One certificate serves the scheduler, the workers and the grader alike. It is signed by an authority made for it alone,
whose key is not kept: there will never be another certificate that this cluster accepts.
"""

from __future__ import annotations

import datetime
import os
from pathlib import Path
from typing import TYPE_CHECKING

from classroom.grade.grading import GradingError

if TYPE_CHECKING:
    from cryptography import x509
    from dask.distributed import Security

AUTHORITY, CERTIFICATE, KEY = "authority.pem", "certificate.pem", "key.pem"
# A school year, and what it takes to begin one.
_DAYS = 400
_DAYS_BEFORE = 1  # The clocks of the machines may differ.


class CertificatesError(Exception):
    """Certificates cannot be made; the message says what to do."""


def make(folder: Path) -> datetime.datetime:
    """Make an authority, a certificate and its key, in a new folder that only its owner can enter.

    Args:
        folder: where to; its parents are made too.

    Returns:
        When the certificate ends.

    Raises:
        CertificatesError: the folder is there already, or cannot be made.
    """
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    signing, own = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    authority = _signed("Authority of a Dask cluster", signing, signing, for_signing=True)
    certificate = _signed("A Dask cluster", own, signing, for_signing=False)
    key = own.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700)
        for name, text in (
            (AUTHORITY, authority.public_bytes(serialization.Encoding.PEM)),
            (CERTIFICATE, certificate.public_bytes(serialization.Encoding.PEM)),
            (KEY, key),
        ):
            with os.fdopen(os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(text)
    except FileExistsError:
        raise CertificatesError(f"{folder} is there already: name another folder, or delete it.") from None
    except OSError as error:
        raise CertificatesError(f"{folder} cannot be written ({error.strerror}).") from None
    return certificate.not_valid_after_utc


def _signed(name: str, owner, signer, *, for_signing: bool) -> x509.Certificate:
    """A certificate of the owner's key: for signing others, or for both ends of a connection."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

    now = datetime.datetime.now(tz=datetime.UTC)
    issuer = name if for_signing else "Authority of a Dask cluster"
    builder = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, issuer)]))
        .public_key(owner.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=_DAYS_BEFORE))
        .not_valid_after(now + datetime.timedelta(days=_DAYS))
        .add_extension(x509.BasicConstraints(ca=for_signing, path_length=0 if for_signing else None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(owner.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False)
        .add_extension(_usage(for_signing), critical=True)
    )
    if not for_signing:
        both_ends = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
        builder = builder.add_extension(x509.ExtendedKeyUsage(both_ends), critical=False)
    return builder.sign(signer, hashes.SHA256())


def _usage(for_signing: bool) -> x509.KeyUsage:
    from cryptography import x509

    return x509.KeyUsage(
        digital_signature=not for_signing,
        key_cert_sign=for_signing,
        crl_sign=False,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def security(folder: Path) -> Security:
    """What Dask needs to know to speak to a cluster, and to no other, with the certificates in a folder.

    Raises:
        GradingError: they are not there, others could have read the key, or their time is over.
    """
    from cryptography import x509
    from dask.distributed import Security

    authority, certificate, key = (folder / name for name in (AUTHORITY, CERTIFICATE, KEY))
    again = "`python3 -m classroom certificates --out FOLDER` makes new ones"
    try:
        end = x509.load_pem_x509_certificate(certificate.read_bytes()).not_valid_after_utc
        others_may = os.name == "posix" and key.stat().st_mode & 0o077
        authority.read_bytes()
    except (OSError, ValueError):
        raise GradingError(f"--tls {folder}: there are no certificates that can be read; {again}.") from None
    if others_may:
        raise GradingError(f"--tls {folder}: other users of this machine may read {KEY}: `chmod 600 {key}`.")
    if end < datetime.datetime.now(tz=datetime.UTC):
        raise GradingError(f"--tls {folder}: the certificate ended on {end:%Y-%m-%d}; {again}, for all machines.")
    files = {"ca_file": authority, "client_cert": certificate, "client_key": key}
    return Security(require_encryption=True, **{f"tls_{name}": str(file) for name, file in files.items()})
