"""Stand in for a warm kernel: ``stub.py SOCKET CONNECTION_FILE`` asks the server for it, and ends when it ends."""

import json
import os
import signal
import socket
import sys
from pathlib import Path

server = socket.socket(socket.AF_UNIX)
server.connect(sys.argv[1])
request = {"connection": sys.argv[2], "folder": str(Path.cwd()), "environment": dict(os.environ)}
server.sendall(json.dumps(request).encode() + b"\n")
kernel = int(server.makefile().readline())
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda number, _frame: os.kill(kernel, number))
server.recv(1)  # Returns when the kernel has closed its end.
