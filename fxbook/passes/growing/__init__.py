"""Random graphs that are valid, differentiable and small: a list of steps, and what makes a graph of any such list.

``strategy`` draws the steps and is what readers use, ``grower`` makes the graph, ``calls`` is what may be called,
``limits`` what a reader may switch off, ``inputs`` what such a graph is run on.
"""
