"""`FlopCounterMode` has formulas for 11 operators besides those for attention.

Before {since}, it has fewer. An operator without a formula counts as zero FLOPs. `flop_registry` in
`torch.utils.flop_counter` lists the formulas.

Explains:
    11 formulas besides those for attention
"""

from torch.utils.flop_counter import flop_registry

print(sum("attention" not in str(one) for one in flop_registry), "formulas besides attention")
