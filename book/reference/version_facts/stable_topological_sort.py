"""`torch.fx.passes.tools_common` has `stable_topological_sort`.

Before {since} it has `legalize_graph` alone, which sorts the list too, and moves more nodes than it has to.

Explains:
    cannot import name 'stable_topological_sort'
    name 'stable_topological_sort' is not defined
"""

from torch.fx.passes import tools_common

print(hasattr(tools_common, "stable_topological_sort"))
