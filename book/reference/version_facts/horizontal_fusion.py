"""`CapabilityBasedPartitioner` takes `skip_horizontal_fusion`.

Before {since} it does not: calls that do not use one another may land in one partition.
Leave the option out there.

Explains:
    got an unexpected keyword argument 'skip_horizontal_fusion'
"""

import inspect

from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner

print("yes" if "skip_horizontal_fusion" in inspect.signature(CapabilityBasedPartitioner).parameters else "no")
