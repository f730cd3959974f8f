"""A `TreeSpec` has the method `children`.

Before {since} the children are the attribute `children_specs`, which later versions have too, as deprecated.

Explains:
    'TreeSpec' object has no attribute 'children'
"""

from torch.utils import _pytree as pytree

print("yes" if hasattr(pytree.tree_flatten([1])[1], "children") else "no")
