"""`run_decompositions` records `auto_functionalized_v2` for a custom operator that writes into an argument.

Before {since}, it recorded `auto_functionalized`.

Explains:
    'auto_functionalized_v2'.*=> .*'auto_functionalized'
"""

import torch


@torch.library.custom_op("version_facts::clamp_", mutates_args={"x"})
def clamp_(x: torch.Tensor) -> None:
    x.clamp_(min=0)


class Clamping(torch.nn.Module):
    def forward(self, x):
        y = x * 2
        clamp_(y)
        return y


program = torch.export.export(Clamping(), (torch.ones(2),), strict=False).run_decompositions({})
print(*(node.target.__name__ for node in program.graph.nodes if "auto_functionalized" in str(node.target)))
