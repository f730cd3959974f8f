"""JupyterHub for a class on one machine: ``python -m classroom.jupyterhub serve``.

The folder of the hub is ``~/fxbook-hub``, or the one that ``FXBOOK_HUB`` names: put the zips to hand out in its
``releases``, and the names of the students, one a line, in its ``students.txt``. How they log in is one of

- a password for each, which ``python -m classroom.jupyterhub passwords`` makes: for a class;
- ``FXBOOK_HUB_LOGIN``: ``pam`` for accounts of this machine, or the authenticator of a package that you install beside
  this one, ``google`` for example;
- ``FXBOOK_HUB_PASSWORD``: one password for all. Whoever has it can log in under any name: for a workshop, not for
  marks.

A configuration of your own can go further: begin it with ``load_subconfig("…/jupyterhub_config.py")``.
"""

import os
import shutil
import sys
from pathlib import Path

from classroom.jupyterhub import bubble, passwords, place, spawner

c = get_config()  # noqa: F821 - JupyterHub puts it here.
hub = place.here()
hub.make()

login = os.environ.get("FXBOOK_HUB_LOGIN", "")
password = os.environ.pop("FXBOOK_HUB_PASSWORD", "")
if not login and not password and not hub.passwords.exists():
    sys.exit(
        f"Say how students log in: write their names into {hub.root / 'students.txt'} and make their passwords with "
        "`python -m classroom.jupyterhub passwords`; README.md beside this configuration names other ways."
    )
if refusal := bubble.refusal(hub.releases):
    sys.exit(f"Students could read each other's files and the solutions: {refusal}")
if not (proxy := shutil.which("configurable-http-proxy")):
    sys.exit(
        "JupyterHub needs its proxy: `apt install node-configurable-http-proxy` on Debian and Ubuntu, elsewhere "
        "`npm install -g configurable-http-proxy`."
    )
# Debian's modules are found by Debian's Node.js; another Node.js has to be told.
if Path(proxy).resolve().is_relative_to("/usr/share/nodejs"):
    os.environ.setdefault("NODE_PATH", "/usr/share/nodejs")

# Who may come in.
if login:
    c.JupyterHub.authenticator_class = login
elif password:
    c.JupyterHub.authenticator_class = "shared-password"
    c.SharedPasswordAuthenticator.user_password = password
else:
    c.JupyterHub.authenticator_class = passwords.PasswordAuthenticator
    c.PasswordAuthenticator.folder = str(hub.root)
    c.PasswordAuthenticator.any_allow_config = True
c.Authenticator.username_pattern = place.NAME
# Whoever has the one password; any account of a machine, or of the world, would be too many.
c.Authenticator.allow_all = bool(password and not login and not hub.roster)
c.Authenticator.allowed_users = set(hub.roster)
# Who is no more on the list is out.
c.Authenticator.allow_existing_users = False

# Where it listens: other machines come through a web server that speaks TLS; README.md shows one.
c.JupyterHub.bind_url = "http://127.0.0.1:8000"
c.JupyterHub.hub_bind_url = "http://127.0.0.1:8081"
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:8001"

# What it keeps.
c.JupyterHub.db_url = f"sqlite:///{hub.root / 'jupyterhub.sqlite'}"
c.JupyterHub.cookie_secret_file = str(hub.root / "cookie_secret")
c.ConfigurableHTTPProxy.command = [proxy]
c.ConfigurableHTTPProxy.pid_file = str(hub.root / "proxy.pid")

# How a student's server starts.
c.JupyterHub.spawner_class = spawner.AccountSpawner if login == "pam" else spawner.ClassSpawner
c.ClassSpawner.students = str(hub.students)
c.ClassSpawner.releases = c.AccountSpawner.releases = str(hub.releases)
c.Spawner.default_url = "/lab"
c.Spawner.start_timeout = c.Spawner.http_timeout = 120
# Of each process, not of all that a student runs: README.md says what holds and what does not.
c.Spawner.mem_limit = "2G"
c.Spawner.cpu_limit = 1
# A class comes all at once; so many start at the same time, and the others wait their turn.
c.JupyterHub.concurrent_spawn_limit = 20
c.JupyterHub.active_server_limit = 0
# Servers end with the hub, since their bubbles do.
c.JupyterHub.cleanup_servers = True
