"""A graph that the reader edits on the page, by the rules of torch.fx: ``Lab(traced)`` at the end of a cell.

The scripts are in ``page``. ``tests/lab`` plays the same actions in torch.
"""

from fxbook.lab.lab import Lab as Lab
