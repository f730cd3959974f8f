"""JupyterHub for a class on one Linux machine: ``jupyterhub -f jupyterhub_config.py``, as root.

Each student has an account on the machine, in the group ``students``, and works in that account's home folder. The
commands are in README.md.
"""

import os
import sys
from pathlib import Path

c = get_config()  # noqa: F821 - JupyterHub defines it.

# Members of the group log in with the password of their account. Without the group, they cannot log in.
c.JupyterHub.authenticator_class = "pam"
c.LocalAuthenticator.allowed_groups = {"students"}
c.Authenticator.allow_existing_users = False

# Only this machine can connect. Others connect through a web server with TLS; README.md shows one.
c.JupyterHub.bind_url = "http://127.0.0.1:8000"
c.JupyterHub.hub_bind_url = "http://127.0.0.1:8081"
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:8001"
# Debian's proxy finds its modules here, with any Node.js.
os.environ.setdefault("NODE_PATH", "/usr/share/nodejs")

# JupyterHub's own spawner ignores `mem_limit` and `cpu_limit`, so the command sets the limit: bytes of data for each
# process, not for all of a student's processes together.
c.JupyterHub.spawner_class = "jupyterhub.spawner.LocalProcessSpawner"
c.Spawner.cmd = ["prlimit", f"--data={2 << 30}", str(Path(sys.prefix, "bin", "jupyterhub-singleuser"))]
c.Spawner.default_url = "/lab"
c.Spawner.start_timeout = c.Spawner.http_timeout = 120
# One thread for torch.
c.Spawner.environment = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
c.Spawner.args = [
    # Over TCP, anybody with an account could read the output of other students' kernels.
    "--KernelManager.transport=ipc",
    # Idle kernels end after half an hour, and a server ends an hour after its last kernel.
    "--MappingKernelManager.cull_idle_timeout=1800",
    "--MappingKernelManager.cull_connected=True",
    "--ServerApp.shutdown_no_activity_timeout=3600",
]
# A whole class logs in at once. This many servers start at the same time, and the others wait.
c.JupyterHub.concurrent_spawn_limit = 20
