"""Inductor's setting for node provenance is `trace.provenance_tracking_level`, a number.

Before {since}, there is no such setting.

Explains:
    provenance_tracking_level does not exist
"""

from torch._inductor import config

print("yes" if hasattr(config.trace, "provenance_tracking_level") else "no")
