"""Inductor's setting for the provenance of nodes is `trace.provenance_tracking_level`, a number.

Before {since} it was `trace.provenance_tracking`, `True` or `False`, or nothing.

Explains:
    provenance_tracking_level does not exist
"""

from torch._inductor import config

print(hasattr(config.trace, "provenance_tracking_level"))
