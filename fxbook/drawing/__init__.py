"""Draw a graph: from a record of it to a picture, a legend and a table that a notebook shows by itself.

``display`` puts the parts together; ``boxes`` says how large a node is. In the order of the list ``lanes`` and
``layout`` decide where everything stands, by data flow ``layers`` does. ``paint`` paints the parts of any drawing and
``still`` makes one picture of them, ``node_table`` says the same in rows, ``summary`` groups the nodes of a graph too
large to draw, ``sides`` greys what tracing left out, and ``lettering`` measures and wraps text.
"""

from fxbook.drawing.display import STALE, Drawing, draw, draw_record, style

__all__ = ["STALE", "Drawing", "draw", "draw_record", "style"]
