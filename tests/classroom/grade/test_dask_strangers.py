"""Strangers have no part in a Dask cluster that grades: not without certificates, and not with their own."""

from __future__ import annotations

import asyncio
import csv
import datetime
import importlib
import re
import shlex
import socket
import ssl
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.classroom import students as class_

pytest.importorskip("distributed", reason="Dask is not installed: pip install -r classroom/requirements.txt")

import itertools

from cryptography import x509
from dask.distributed import Client, Security
from distributed.comm import parse_address
from distributed.comm.registry import get_backend
from distributed.core import rpc

from classroom.__main__ import main
from classroom.grade.cluster import certificates, strangers
from classroom.grade.cluster.distributed import DaskWorkers
from classroom.grade.cluster.strangers import Door, check_doors, safe_address
from classroom.grade.grading import GradingError
from press import ROOT
from tests.classroom.grade.clusters import Cluster, clusters
from tests.classroom.grade.parts import UNSAFE

GUIDE = (ROOT / "book" / "teaching.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("certificates") / "ours"
    certificates.make(folder)
    return folder


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, tls: Path) -> Iterator[Cluster]:
    """A cluster with certificates: one worker, and its nanny."""
    for make in clusters(tmp_path_factory.mktemp("cluster")):
        yield make(1, tls=tls)


# ---- addresses -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        ("tcp://127.0.0.1:8786", "tcp://127.0.0.1:8786"),
        ("127.8.9.10:1234", "tcp://127.8.9.10:1234"),
        ("tcp://[::1]", "tcp://[::1]:8786"),
    ],
)
def test_the_loopback_address_needs_no_certificates(given: str, taken: str) -> None:
    assert safe_address(given, certificates=False) == taken


def test_a_name_is_taken_for_what_it_stands_for(monkeypatch: pytest.MonkeyPatch) -> None:
    stands_for = {"localhost": ["127.0.0.1", "::1"], "grader.lan": ["127.0.0.1", "192.0.2.1"], "nobody.lan": []}

    def look_up(host: str, port: int, **_: Any) -> list[Any]:
        return [(None, None, 0, "", (ip, port)) for ip in stands_for[host]]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    assert safe_address("localhost:1", certificates=False) == "tcp://127.0.0.1:1"
    for name in ("grader.lan", "nobody.lan"):
        with pytest.raises(GradingError, match="is not of this machine alone"):
            safe_address(f"tcp://{name}:8786", certificates=False)


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("tcp://192.0.2.1:8786", "SSH tunnel"),
        ("192.0.2.1:8786", "SSH tunnel"),
        ("tcp://0.0.0.0:8786", "SSH tunnel"),
        ("tcp://[2001:db8::1]:8786", "SSH tunnel"),
        ("tcp://127.0.0.1:8786@192.0.2.1", "is no address for --dask"),
        ("tcp://127.0.0.1:8786/x", "is no address for --dask"),
        ("tcp://127.0.0.1:many", "is no address for --dask"),
        ("tcp://:8786", "is no address for --dask"),
        ("ws://127.0.0.1:8786", "is no address for --dask"),
        ("ucx://127.0.0.1:8786", "is no address for --dask"),
        ("inproc://127.0.0.1/1/1", "is no address for --dask"),
        ("", "is no address for --dask"),
        ("tls://192.0.2.1:8786", "needs --tls FOLDER"),
        ("tls://127.0.0.1:8786", "needs --tls FOLDER"),
    ],
)
def test_an_address_that_strangers_reach_is_refused(tmp_path: Path, capsys, address: str, says: str) -> None:
    class_.make(tmp_path / "class", 1, ["02-put-in-order"])
    arguments = ["grade", str(tmp_path / "class"), "--chapters", "02", "--out", str(tmp_path / "marks")]
    assert main([*arguments, f"--dask={address}"]) == 2
    error = capsys.readouterr().err
    assert says in error and "Traceback" not in error and len(error.strip().splitlines()) == 1


def test_certificates_are_for_tls(tmp_path: Path, capsys, tls: Path) -> None:
    arguments = ["grade", str(tmp_path), "--chapters", "02", "--out", str(tmp_path / "marks"), "--tls", str(tls)]
    assert main(arguments) == 2
    assert "--tls FOLDER is for --dask tls://" in capsys.readouterr().err
    with pytest.raises(GradingError, match="--tls FOLDER is for tls://"):
        DaskWorkers("tcp://127.0.0.1:8786", tls=tls)


# ---- what the cluster listens on -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("door", "says"),
    [
        (Door("0.0.0.0", 40000, "tcp"), "takes work on 0.0.0.0:40000 from whoever .* `--host 127.0.0.1`"),
        (Door("::", 40000, "tcp"), r"takes work on \[::\]:40000"),
        (Door("192.0.2.1", 40000, "tcp"), "takes work on 192.0.2.1:40000"),
        (Door("0.0.0.0", 8787, "page"), "shows what it does on 0.0.0.0:8787, .* `--dashboard-address 127.0.0.1:0`"),
    ],
)
def test_a_process_that_listens_to_strangers_is_refused(door: Door, says: str) -> None:
    with pytest.raises(GradingError, match=f"^The worker x {says}"):
        check_doors("The worker x", [Door("127.0.0.1", 1, "tcp"), door])


def test_a_process_that_listens_to_friends_is_not(tls: Path) -> None:
    check_doors("x", [Door("127.0.0.1", 1, "tcp"), Door("::1", 2, "page"), Door("0.0.0.0", 3, "tls")])


def test_each_process_of_the_cluster_is_asked(cluster: Cluster, tls: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    doors_by_process: dict[str, list[Door]] = {}
    monkeypatch.setattr(strangers, "check_doors", lambda who, doors: doors_by_process.update({who: list(doors)}))
    DaskWorkers(cluster.address, tls=tls, trusted=True).stop()
    assert [who.partition(" tls")[0] for who in doors_by_process] == ["The scheduler at", "The worker", "The nanny of"]
    for doors in doors_by_process.values():
        assert {door.kind for door in doors} <= {"tls", "page"} and all(door.host == "127.0.0.1" for door in doors)
        assert sum(door.kind == "tls" for door in doors) == 1


def test_a_door_that_is_open_stops_it_all(cluster: Cluster, tls: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strangers, "is_loopback", lambda host: False)
    with pytest.raises(GradingError, match="shows what it does on 127"):
        DaskWorkers(cluster.address, tls=tls, trusted=True)


@pytest.mark.parametrize("command", re.findall(r"^\$ \.venv/bin/(dask (?:.*\\\n)*.*)$", GUIDE, re.MULTILINE))
def test_the_guide_lets_no_strangers_in(command: str) -> None:
    _, kind, *arguments = shlex.split(command.replace("\\\n", " "))
    options = dict(itertools.pairwise(arguments))
    parameters = importlib.import_module(f"distributed.cli.dask_{kind}").main.params
    assert {name for name in arguments if name.startswith("--")} <= {
        name for parameter in parameters for name in parameter.opts
    }
    assert options["--dashboard-address"].startswith("127.0.0.1:")
    assert options.get("--host") == "127.0.0.1" or {"--tls-ca-file", "--tls-cert", "--tls-key"} <= set(arguments)


# ---- who is let in ---------------------------------------------------------------------------------------------------


def places(cluster: Cluster, tls: Path) -> list[str]:
    """The addresses of the scheduler, the worker and the nanny."""
    with Client(cluster.address, set_as_default=False, security=certificates.security(tls)) as client:
        ((worker, about),) = client.scheduler_info(n_workers=-1)["workers"].items()
    return [cluster.address, worker, about["nanny"]]


async def call(address: str, arguments: dict[str, Any]) -> Any:
    """Ask a process of Dask who it is, which it tells whomever it lets in.

    Whoever is refused hears so at once: where Dask itself connects, it knocks again until its time is over.
    """
    scheme, place = parse_address(address)
    comm = await get_backend(scheme).get_connector().connect(place, **arguments)
    try:
        await comm.write(comm.handshake_info())
        await comm.read()
    finally:
        comm.abort()
    async with rpc(address, timeout=600, connection_args=arguments) as other:
        return await other.identity()


def test_friends_are_let_in(cluster: Cluster, tls: Path) -> None:
    known = certificates.security(tls).get_connection_args("client")
    kinds = [asyncio.run(call(place, known))["type"] for place in places(cluster, tls)]
    assert kinds == ["Scheduler", "Worker", "Nanny"]


def _with_another_authority(folder: Path, _: Path) -> Security:
    certificates.make(folder / "theirs")
    return certificates.security(folder / "theirs")


def _with_a_certificate_that_they_signed(folder: Path, tls: Path) -> Security:
    """They know our authority, which is no secret, and have a certificate of their own."""
    theirs = _with_another_authority(folder, tls)
    theirs.tls_ca_file = str(tls / certificates.AUTHORITY)
    return theirs


@pytest.mark.parametrize("make", [_with_another_authority, _with_a_certificate_that_they_signed])
def test_strangers_with_certificates_of_their_own_are_not(
    cluster: Cluster, tls: Path, tmp_path: Path, make: Callable[[Path, Path], Security]
) -> None:
    theirs = make(tmp_path, tls)
    for place in places(cluster, tls):
        with pytest.raises(OSError):
            asyncio.run(call(place, theirs.get_connection_args("client")))
    with pytest.raises(OSError):  # It knocks for so long, and is never let in.
        Client(cluster.address, timeout=3, set_as_default=False, security=theirs)


def test_strangers_who_know_of_no_certificates_are_not(cluster: Cluster, tls: Path) -> None:
    for place in places(cluster, tls):
        with pytest.raises(OSError):
            asyncio.run(call(place.replace("tls://", "tcp://"), {}))
    with pytest.raises(OSError):  # As above.
        Client(cluster.address.replace("tls://", "tcp://"), timeout=3, set_as_default=False)


def test_strangers_who_have_none_are_told_nothing(cluster: Cluster, tls: Path) -> None:
    anybody = ssl.create_default_context()
    anybody.check_hostname, anybody.verify_mode = False, ssl.CERT_NONE
    for place in places(cluster, tls):
        parts = urlsplit(place)
        # With TLS 1.3 the refusal arrives only when one listens for an answer.
        with (
            pytest.raises(ssl.SSLError, match="certificate required"),
            socket.create_connection((parts.hostname, parts.port)) as raw,
            anybody.wrap_socket(raw) as speaks,
        ):
            speaks.recv(1)
        with pytest.raises(OSError):
            asyncio.run(call(place, {"ssl_context": anybody}))


# ---- grading ---------------------------------------------------------------------------------------------------------


def test_a_class_is_graded_with_certificates(cluster: Cluster, tls: Path, tmp_path: Path, capsys) -> None:
    class_.make(tmp_path / "class", 2, ["02-put-in-order"])
    (tmp_path / "a.toml").write_text('title = "A"\nchapters = ["02"]\n')
    arguments = ["grade", str(tmp_path / "class"), "--assignment", str(tmp_path / "a.toml")]
    arguments += ["--out", str(tmp_path / "marks"), "--dask", cluster.address, "--tls", str(tls)]
    assert main([*arguments, *["--trusted"] * UNSAFE]) == 0, capsys.readouterr().err
    with (tmp_path / "marks" / "grades.csv").open(encoding="utf-8", newline="") as file:
        statuses = [row["status"] for row in csv.DictReader(file)]
    assert len(statuses) == 12 and set(statuses) >= {"missing"} and "error" not in statuses


# ---- the certificates ------------------------------------------------------------------------------------------------


def test_certificates_are_made_by_one_command(tmp_path: Path, capsys) -> None:
    folder = tmp_path / "new" / "tls"
    assert main(["certificates", "--out", str(folder)]) == 0
    assert "good until 20" in capsys.readouterr().out
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    files = {path.name: path for path in folder.iterdir()}
    assert set(files) == {certificates.AUTHORITY, certificates.CERTIFICATE, certificates.KEY}
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in files.values())
    certificate = x509.load_pem_x509_certificate(files[certificates.CERTIFICATE].read_bytes())
    authority = x509.load_pem_x509_certificate(files[certificates.AUTHORITY].read_bytes())
    certificate.verify_directly_issued_by(authority)
    # The key of the authority is nowhere: the one that is kept is the certificate's.
    assert certificate.public_key() != authority.public_key()
    assert files[certificates.KEY].read_text().count("BEGIN") == 1
    assert main(["certificates", "--out", str(folder)]) == 2
    assert "is there already" in capsys.readouterr().err


def test_certificates_that_cannot_serve_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(GradingError, match="no certificates that can be read; `python3 -m classroom certificates"):
        certificates.security(tmp_path)
    certificates.make(tmp_path / "open")
    (tmp_path / "open" / certificates.KEY).chmod(0o644)
    with pytest.raises(GradingError, match=r"other users of this machine may read .*: `chmod 600 "):
        certificates.security(tmp_path / "open")
    monkeypatch.setattr(certificates, "_DAYS", -datetime.timedelta(hours=1) / datetime.timedelta(days=1))
    certificates.make(tmp_path / "old")
    with pytest.raises(GradingError, match="the certificate ended on 20"):
        certificates.security(tmp_path / "old")
