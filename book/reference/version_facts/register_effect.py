"""A custom operator can be told to have an effect: `register_effect`.

Before {since} it cannot.

Explains:
    'CustomOpDef' object has no attribute 'register_effect'
"""

from torch.library import CustomOpDef

print(hasattr(CustomOpDef, "register_effect"))
