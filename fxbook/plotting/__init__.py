"""Pictures of measurements: plots in the style of the book, and a graph coloured by a number for each node.

``plot`` yields matplotlib's axes and shows the result as SVG, with a text alternative, in light and dark.
``time_and_work``, ``memory_over_nodes`` and ``places`` are such plots. ``heat`` draws a graph with a share written on
each node. The first plot imports matplotlib.
"""

from fxbook.plotting.bars import memory_over_nodes, time_and_work
from fxbook.plotting.heat import Heat, heat
from fxbook.plotting.places import places
from fxbook.plotting.plot import Plot, plot

__all__ = ["Heat", "Plot", "heat", "memory_over_nodes", "places", "plot", "time_and_work"]
