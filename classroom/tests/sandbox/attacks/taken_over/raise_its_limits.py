"""Raise the limits that were set: of memory, files, time, processes.

Harm: the machine is taken up; the answer says which limit gave way.
"""

import resource

KINDS = [name for name in dir(resource) if name.startswith("RLIMIT_")]


def paired(*given):
    found = []
    for name in KINDS:
        kind = getattr(resource, name)
        before = resource.getrlimit(kind)
        if before[1] == resource.RLIM_INFINITY:
            continue
        for wanted in (resource.RLIM_INFINITY, before[1] + 1):
            try:
                resource.setrlimit(kind, (wanted, wanted))
                found.append(f"{name}: {before} to {resource.getrlimit(kind)}")
            except (ValueError, OSError):
                pass
    return found
