"""Pictures of measurements: plots in the style of the book, and a graph coloured by a number for each node.

``plot`` gives matplotlib's axes and shows what was drawn on them as SVG, with a text alternative, in light and dark;
``heat`` draws a graph with a share written on each node. Matplotlib is imported by the first plot.
"""

from fxbook.plotting.heat import Heat, heat
from fxbook.plotting.plot import Plot, plot

__all__ = ["Heat", "Plot", "heat", "plot"]
