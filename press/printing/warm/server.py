"""Import once, fork often: ``server.py SOCKET`` answers each request on the socket with a kernel in a forked child.

A request is one line of JSON: ``{"connection": file, "folder": path, "environment": {…}}``; the answer is the child's
process id. The child ends when the connection closes, so a kernel outlives neither its stub nor the server. The server
does not import the book's own library, so that each notebook sees its current state. A notebook that lacks one of the
server's imports fails nowhere here, but it fails in the cold kernels in which the press generates notebooks.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import sys
import threading


def serve(path: str) -> None:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(64)
    signal.signal(signal.SIGCHLD, _reap)
    print("ready", flush=True)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # Nobody reads the pipe, so a kernel that prints would block.
    server = os.getpid()
    while True:
        connection, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            _become_kernel(connection, server)
        connection.close()


def _reap(*_: object) -> None:
    """Reap kernels that have ended, whose processor time then counts as this server's."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _become_kernel(connection: socket.socket, server: int) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    request = json.loads(connection.makefile().readline())
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    # A CUDA build of torch looks for a compiler, and warns on a machine that has one but no GPU. No cell compiles.
    os.environ.setdefault("CUDA_PATH", "")
    arguments = ["-f", request["connection"], "--IPKernelApp.log_level=ERROR"]
    sys.argv = ["ipykernel_launcher", *arguments]
    connection.sendall(f"{os.getpid()}\n".encode())
    threading.Thread(target=_end_with, args=(connection, server), daemon=True).start()
    application = IPKernelApp.instance()
    application.initialize(arguments)
    application.start()
    os._exit(0)


def _end_with(connection: socket.socket, server: int) -> None:
    """End this kernel at once when the stub or the server is gone."""
    connection.settimeout(1)
    while os.getppid() == server:
        try:
            connection.recv(1)
            break
        except TimeoutError:
            continue
    os._exit(1)


if __name__ == "__main__":
    # Nothing may be imported from this script's folder; a kernel adds the notebook's folder itself.
    sys.path.pop(0)
    import IPython.core.completer  # noqa: F401  (a kernel imports it when it starts)
    import torch._dynamo
    import torch.distributed.tensor
    import torch.fx  # noqa: F401
    from ipykernel.kernelapp import IPKernelApp

    serve(sys.argv[1])
