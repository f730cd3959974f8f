"""Tools for authors of passes: compare graphs, try a pass on random graphs, and find its fault.

``comparing`` shows what a pass changed, ``growing`` makes random graphs, ``invariants`` are what a pass must preserve,
and ``checking`` checks them: it runs the pass in a ``trial`` and returns a ``report``. ``minimising`` shrinks a failing
graph, ``bisecting`` finds the pass, or the change, that breaks a module.
"""

from fxbook.passes import invariants

__all__ = ["invariants"]
