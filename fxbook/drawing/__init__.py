"""Draw a graph: from its record to a picture, a legend and a table that a notebook displays.

``display`` assembles the parts; ``boxes`` decides how large a node is. In list order, ``lanes`` and ``layout`` place
the nodes; by data flow, ``layers`` does. ``paint`` paints the parts of any drawing, ``still`` combines them into one
picture, and ``image`` makes it an ``<img>`` for untrusted notebooks. ``node_table`` makes a table, ``summary`` groups
the nodes of a large graph, ``sides`` greys out what tracing did not record, and ``lettering`` measures and wraps text.
"""

from fxbook.drawing.display import STALE, Drawing, draw, draw_record, style

__all__ = ["STALE", "Drawing", "draw", "draw_record", "style"]
