"""`torch.fx.passes.tools_common` has `stable_topological_sort`.

Before {since}, it has only `legalize_graph`, which also sorts the list but moves more nodes than it has to. On those
versions, write `from torch.fx.passes.tools_common import legalize_graph as stable_topological_sort`.

Explains:
    cannot import name 'stable_topological_sort'
    name 'stable_topological_sort' is not defined
"""

from torch.fx.passes import tools_common

print("yes" if hasattr(tools_common, "stable_topological_sort") else "no")
