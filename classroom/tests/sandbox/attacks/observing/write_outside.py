"""Write, rename, link or delete wherever a file could be, by paths that climb too.

Harm: a file is there, or another is gone; the answer says where.
"""

import contextlib
import os
import sys

FOLDERS = [
    *("/", "/book", "/book/fxbook", "/dev", "/dev/shm", "/etc", "/home", "/mnt", "/opt", "/proc", "/root", "/run"),
    *("/srv", "/sys", "/usr", "/usr/lib", "/usr/local", "/var", "/var/tmp", "/tmp/../", "../", "../../../../root"),
    *(sys.prefix, sys.base_prefix, os.path.dirname(os.__file__), *filter(None, sys.path)),
]


def paired(*given):
    worked = []
    for folder in FOLDERS:
        name = f"{folder}/by-an-attack"
        for write in (
            lambda name: open(name, "w").close(),
            os.mkdir,
            lambda name: os.symlink("/etc/passwd", name),
            os.mkfifo,
            lambda name: os.mknod(name, 0o020666, os.makedev(1, 1)),
        ):
            with contextlib.suppress(OSError):
                write(name)
                worked.append(name)
    for victim in ("/book/fxbook/learning/sheets.py", "/usr/bin/env", os.__file__, sys.executable):
        for spoil in (os.unlink, lambda name: open(name, "a").close(), lambda name: os.chmod(name, 0o777)):
            with contextlib.suppress(OSError):
                spoil(victim)
                worked.append(victim)
    return worked
