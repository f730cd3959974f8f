"""Tools for authors of passes: compare graphs, try a pass on random graphs, and find its fault.

``comparing`` shows what a pass changed. ``growing`` makes random graphs. ``invariants`` says what a pass must preserve;
``checking`` checks it: it runs the pass in a ``trial`` and returns a ``report``. ``minimising`` shrinks a failing
graph, and ``bisecting`` finds the pass that breaks a module, or the change within a pass.
"""

from fxbook.passes import invariants

__all__ = ["invariants"]
