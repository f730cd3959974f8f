r"""A proposed partition records the position of each of its nodes in the graph.

Before {since}, its dict of nodes had `None` for each node.

Explains:
    16_cut_a_graph\.ipynb: \[\{_0: 3
"""

import torch
from torch import fx
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupport

traced = fx.symbolic_trace(lambda x: torch.sin(torch.sin(x)))


class Every(OperatorSupport):
    def is_node_supported(self, submodules, node):
        return node.op == "call_function"


[one] = CapabilityBasedPartitioner(traced, Every(), allows_single_node_partition=True).propose_partitions()
print(*one.nodes.values())
