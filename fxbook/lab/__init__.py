"""A graph that the reader edits on the page, by the rules of torch.fx: ``Lab(traced)`` at the end of a cell.

``page`` holds the scripts: the graph and its rules, the text and the code that torch prints, numbers, the drawing, the
forms. ``tests/lab`` plays the same actions on torch.
"""

from fxbook.lab.lab import Lab as Lab
