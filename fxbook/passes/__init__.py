"""What a reader takes along to work on passes of their own: compare graphs, try a pass on random ones, find its fault.

``difference`` says what a pass changed, with ``matching`` (which node is which) and ``unified`` (the text). ``growing``
makes random graphs, for a seed or for Hypothesis. ``invariants`` are what a pass must keep: ``asking`` puts each to a
``trial``, which runs a pass on a copy, and ``checking`` puts what they say into a ``report``. ``minimising`` makes a
graph that fails smaller, ``bisecting`` finds the pass, or the change, that breaks.
"""

from fxbook.passes import invariants

__all__ = ["invariants"]
