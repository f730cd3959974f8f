"""Random graphs that are valid, differentiable and small: a list of steps, and what makes a graph of any such list.

``strategy`` draws the steps and is what readers use, ``builder`` makes the graph. ``steps`` and ``layers`` are the
kinds of steps, ``growth`` is the graph that they work on and ``values`` what its nodes compute, ``calls`` is what may
be called, ``limits`` what a reader may switch off, ``inputs`` what such a graph is run on. ``dialects`` writes it in
operators of ATen, ``changing`` asks whether a pass changes it.
"""
