"""A custom operator can be told to have an effect: `register_effect`.

Before {since} there is a private function alone: `_register_effectful_op(operator, _EffectType.ORDERED)` of
`torch._higher_order_ops.effects`.

Explains:
    'CustomOpDef' object has no attribute 'register_effect'
"""

from torch.library import CustomOpDef

print("yes" if hasattr(CustomOpDef, "register_effect") else "no")
