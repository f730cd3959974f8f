"""A hub on loopback and the students who use it over its API, for the tests of ``classroom.jupyterhub``."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Any
from urllib.parse import quote

import requests
import websocket

from classroom.jupyterhub import bubble
from press import ROOT

_TEACHER = "t" * 32
# Nothing that works takes as long, however slow the machine.
LONGEST_SECONDS = 600
_CONFIG = """
load_subconfig({config!r})
c.JupyterHub.bind_url = "http://127.0.0.1:{port}"
c.JupyterHub.hub_bind_url = "http://127.0.0.1:{hub}"
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{proxy}"
c.Spawner.start_timeout = c.Spawner.http_timeout = {seconds}
c.JupyterHub.services = [{{"name": "teacher", "api_token": {token!r}}}]
c.JupyterHub.load_roles = [
    {{"name": "teacher", "services": ["teacher"], "scopes": ["admin:users", "admin:servers", "tokens"]}}
]
"""


def missing(folder: Path) -> str:
    """What is not installed here that a hub needs; ``""`` where all is."""
    if importlib.util.find_spec("jupyterhub") is None:
        return "no JupyterHub here: install classroom/requirements.txt"
    if not shutil.which("configurable-http-proxy"):
        return "no configurable-http-proxy here: `apt install node-configurable-http-proxy`"
    return bubble.refusal(folder)


class Hub:
    """A hub in a process of its own.

    Args:
        folder: the hub's folder.
        log: the file that it writes what it says to.
    """

    def __init__(self, folder: Path, log: Path) -> None:
        ports = _free_ports(3)
        self.url = f"http://127.0.0.1:{ports[0]}"
        self.log = log
        config = log.with_suffix(".py")
        shipped = str(ROOT / "classroom/jupyterhub/jupyterhub_config.py")
        config.write_text(
            _CONFIG.format(
                config=shipped,
                port=ports[0],
                hub=ports[1],
                proxy=ports[2],
                seconds=LONGEST_SECONDS,
                token=_TEACHER,
            ),
            encoding="utf-8",
        )
        environment = {name: value for name, value in os.environ.items() if not name.startswith("FXBOOK_")}
        environment |= {"FXBOOK_HUB": str(folder), "A_SECRET": "of the hub", "FXBOOK_PATIENCE": "8"}
        with log.open("wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "classroom.jupyterhub", "serve", "--config", str(config)],
                cwd=ROOT,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        self._teacher = requests.Session()
        self._teacher.headers["Authorization"] = f"token {_TEACHER}"

    def wait(self) -> None:
        """Wait until it answers."""
        while self.process.poll() is None:
            try:
                if requests.get(f"{self.url}/hub/health", timeout=LONGEST_SECONDS).ok:
                    return
            except requests.ConnectionError:
                pass
            time.sleep(0.1)
        raise AssertionError(f"The hub has ended:\n{self.log.read_text()[-3000:]}")

    def ask(self, method: str, path: str, **more: Any) -> Any:
        """What the hub's API answers the teacher."""
        answer = self._teacher.request(method, f"{self.url}/hub/api/{path}", timeout=LONGEST_SECONDS, **more)
        assert answer.ok, f"{method} {path}: {answer.status_code} {answer.text}\n{self.log.read_text()[-3000:]}"
        return answer.json() if answer.text else None

    def student(self, name: str) -> Student:
        """A new student, without a server yet."""
        self.ask("POST", f"users/{name}")
        return Student(self, name, self.ask("POST", f"users/{name}/tokens")["token"])


@dataclasses.dataclass
class Student:
    """A student with a token of the student's own."""

    hub: Hub
    name: str
    token: str

    @property
    def server(self) -> str:
        """Where the student's server answers."""
        return f"{self.hub.url}/user/{quote(self.name, safe='@')}/"

    def start(self) -> None:
        """Start the server and wait until it answers."""
        answer = self.asks("POST", f"{self.hub.url}/hub/api/users/{self.name}/server")
        assert answer.status_code in (201, 202), answer.text
        self._wait(lambda servers: servers.get("", {}).get("ready"))

    def stop(self) -> None:
        """Stop the server and wait until it is gone."""
        answer = self.asks("DELETE", f"{self.hub.url}/hub/api/users/{self.name}/server")
        assert answer.status_code in (202, 204), answer.text
        self._wait(lambda servers: "" not in servers)

    def _wait(self, reached: Any) -> None:
        # Students wait in threads, which nobody else could end.
        ends = time.monotonic() + LONGEST_SECONDS
        while not reached(servers := self.hub.ask("GET", f"users/{self.name}")["servers"]):
            log = self.hub.log.read_text()
            assert time.monotonic() < ends, f"{self.name}: {servers}\n{log[-3000:]}"
            time.sleep(0.2)

    def asks(self, method: str, url: str, **more: Any) -> requests.Response:
        """What somebody answers this student."""
        headers = {"Authorization": f"token {self.token}"}
        return requests.request(method, url, headers=headers, timeout=LONGEST_SECONDS, allow_redirects=False, **more)

    def opens(self, path: str) -> Any:
        """A notebook in the student's folder."""
        answer = self.asks("GET", f"{self.server}api/contents/{path}")
        assert answer.ok, answer.text
        return answer.json()["content"]

    def saves(self, path: str, notebook: Any) -> None:
        """Save a notebook over what is there."""
        model = {"type": "notebook", "format": "json", "content": notebook}
        assert self.asks("PUT", f"{self.server}api/contents/{path}", json=model).ok

    def runs(self, folder: str, *cells: str) -> list[str]:
        """What cells print in a new kernel, whose notebook would lie in a folder; an error is printed too."""
        model = {"name": "python3", "path": f"{folder}/any.ipynb"}
        started = self.asks("POST", f"{self.server}api/kernels", json=model)
        assert started.status_code == 201, started.text
        kernel = f"{self.server}api/kernels/{started.json()['id']}"
        channels = websocket.create_connection(
            f"{kernel.replace('http', 'ws', 1)}/channels",
            header=[f"Authorization: token {self.token}"],
            timeout=LONGEST_SECONDS,
        )
        try:
            return [_output(channels, cell) for cell in cells]
        finally:
            channels.close()
            assert self.asks("DELETE", kernel).status_code == 204


def _output(channels: websocket.WebSocket, code: str) -> str:
    header = {"msg_id": uuid.uuid4().hex, "msg_type": "execute_request", "session": uuid.uuid4().hex, "username": ""}
    content = {"code": code, "silent": False, "store_history": False, "allow_stdin": False, "stop_on_error": False}
    message = {"header": {**header, "version": "5.3"}, "parent_header": {}, "metadata": {}, "content": content}
    channels.send(json.dumps({**message, "channel": "shell", "buffers": []}))
    parts = []
    while True:
        reply = json.loads(channels.recv())
        if reply["parent_header"].get("msg_id") != header["msg_id"]:
            continue
        content = reply["content"]
        if reply["msg_type"] == "stream":
            parts.append(content["text"])
        elif reply["msg_type"] in ("display_data", "execute_result"):
            parts.append(content["data"].get("text/plain", ""))
        elif reply["msg_type"] == "error":
            parts.append(f"{content['ename']}: {content['evalue']}")
        elif reply["msg_type"] == "status" and content["execution_state"] == "idle":
            return "\n".join(parts)


def _free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [server.getsockname()[1] for server in sockets]
    for server in sockets:
        server.close()
    return ports
