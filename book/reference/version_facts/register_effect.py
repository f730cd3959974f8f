"""`register_effect` declares that a custom operator has an effect.

Before {since}, there is only a private function: `_register_effectful_op(operator, _EffectType.ORDERED)` in
`torch._higher_order_ops.effects`.

Explains:
    'CustomOpDef' object has no attribute 'register_effect'
"""

from torch.library import CustomOpDef

print("yes" if hasattr(CustomOpDef, "register_effect") else "no")
