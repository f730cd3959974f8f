"""`CapabilityBasedPartitioner` accepts `skip_horizontal_fusion`.

Before {since}, it does not, and calls that do not use one another may end up in one partition. Leave the option out on
those versions.

Explains:
    got an unexpected keyword argument 'skip_horizontal_fusion'
"""

import inspect

from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner

print("yes" if "skip_horizontal_fusion" in inspect.signature(CapabilityBasedPartitioner).parameters else "no")
