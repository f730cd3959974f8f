"""Run submissions where they can do no harm: no network, no files but their own, no other process, limits on the rest.

One process imports torch, once, inside bubblewrap (``bubble``), with only the observing half of the library at hand
(``halves``); it forks for each submission, and each fork confines itself further before it reads the submission
(``inside``). What comes out is JSON, which is judged elsewhere (``outside``).
"""

from classroom.sandbox.bubble import Protection, SandboxError, protection
from classroom.sandbox.outside import Limits, Sandbox

__all__ = ["Limits", "Protection", "Sandbox", "SandboxError", "protection"]
