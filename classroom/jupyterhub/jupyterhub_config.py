"""JupyterHub for a class on one Linux machine: ``jupyterhub -f jupyterhub_config.py``, as root.

Each student has an account of the machine, in the group ``students``, and works in its home folder. README.md beside
this file has the commands.
"""

import os
import sys
from pathlib import Path

c = get_config()  # noqa: F821 - JupyterHub puts it here.

# Who may come in: members of the group, with the password of their account; who leaves the group is out.
c.JupyterHub.authenticator_class = "pam"
c.LocalAuthenticator.allowed_groups = {"students"}
c.Authenticator.allow_existing_users = False

# Where it listens: other machines come through a web server that speaks TLS; README.md shows one.
c.JupyterHub.bind_url = "http://127.0.0.1:8000"
c.JupyterHub.hub_bind_url = "http://127.0.0.1:8081"
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:8001"
# The proxy of Debian finds its modules there, whichever Node.js runs it.
os.environ.setdefault("NODE_PATH", "/usr/share/nodejs")

# How a student's server starts. JupyterHub's own spawner ignores `mem_limit` and `cpu_limit`, so the limit is set by
# the command: bytes of data for each process, not for all of a student's processes together.
c.JupyterHub.spawner_class = "jupyterhub.spawner.LocalProcessSpawner"
c.Spawner.cmd = ["prlimit", f"--data={2 << 30}", str(Path(sys.prefix, "bin", "jupyterhub-singleuser"))]
c.Spawner.default_url = "/lab"
c.Spawner.start_timeout = c.Spawner.http_timeout = 120
# One thread each for torch.
c.Spawner.environment = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
c.Spawner.args = [
    # By TCP, whoever has an account could listen to what the kernels of others print.
    "--KernelManager.transport=ipc",
    # A kernel ends after half an hour without a cell running, a server an hour after its last kernel.
    "--MappingKernelManager.cull_idle_timeout=1800",
    "--MappingKernelManager.cull_connected=True",
    "--ServerApp.shutdown_no_activity_timeout=3600",
]
# A class comes all at once; so many start at the same time, and the others wait their turn.
c.JupyterHub.concurrent_spawn_limit = 20
