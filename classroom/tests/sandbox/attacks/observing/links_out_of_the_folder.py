"""Lay links in the folder for temporary files that lead out of it, and write and read through them.

Harm: a file appears outside, or one from there is read; the answer says which.
"""

import contextlib
import os
import tempfile

TARGETS = ("/root", "/home", "/etc/shadow", "/proc/1/root", "/proc/self/root/root", "/proc/self/cwd/..", "@FOLDER@")


def paired(*given):
    worked = []
    for number, target in enumerate(TARGETS):
        link = f"{tempfile.gettempdir()}/link-{number}"
        os.symlink(target, link)
        with contextlib.suppress(OSError):
            open(f"{link}/by-an-attack", "w").close()
            # Its own folder is its own, by whatever way it gets there.
            if not os.path.exists(f"{tempfile.gettempdir()}/by-an-attack"):
                worked.append(target)
        with contextlib.suppress(OSError):
            worked += [f"read {target}: {line}" for line in open(f"{link}/secret.txt")]
        with contextlib.suppress(OSError):
            os.link("/etc/ld.so.cache", link + "-hard")
            worked.append("a hard link")
    return worked
