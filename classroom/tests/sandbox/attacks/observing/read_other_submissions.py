"""Look for the files of others: the submissions, the teacher's home, the project, wherever they usually are.

Harm: the answer says what it found.
"""

import os

PLACES = ("@FOLDER@", "@PROJECT@", "/root", "/home", "/srv", "/mnt", "/media", "/var", "/opt", "/run", "/work", "/tmp")
NAMES = (".ipynb", "secret.txt", ".bash_history", "id_rsa", "grades.csv", "hidden.py", "assignment.toml")


def _shown(path):
    try:
        with open(path, errors="replace") as file:
            return f"{path}: {file.read(100)}"
    except OSError:
        return path


def paired(*given):
    found = []
    for place in PLACES:
        for folder, folders, files in os.walk(place):
            # What Python needs is there for everybody.
            folders[:] = [one for one in folders if one not in ("site-packages", "lib", "proc")]
            found += [_shown(f"{folder}/{name}") for name in files if name.endswith(NAMES)]
            if found:
                return found
    for name in ("/etc/passwd", "/etc/shadow", "/etc/hostname", "/etc/machine-id", "/etc/resolv.conf"):
        if os.path.exists(name):
            found.append(name)
    return found
