"""Run submissions where they can do no harm: no network, no files but their own, no other process, limits on the rest.

One process imports torch, once, inside bubblewrap (``bubble``), with only the observing half of the library at hand
(``halves``); it forks for each submission, and each fork confines itself further before it reads the submission
(``inside``). What comes out is JSON, which is judged elsewhere (``outside``).
"""

import importlib

from classroom.sandbox.bubble import Protection, SandboxError, protection

__all__ = ["Limits", "Protection", "Sandbox", "SandboxError", "protection"]


def __getattr__(name: str) -> object:
    """Import on first use: to know what a machine protects needs no torch."""
    if name in ("Limits", "Sandbox"):
        return getattr(importlib.import_module("classroom.sandbox.outside"), name)
    raise AttributeError(f"module 'classroom.sandbox' has no attribute {name!r}")
