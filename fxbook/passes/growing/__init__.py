"""Random graphs that are valid, differentiable and small, each built from a list of steps.

``strategy`` draws the steps and is the public interface; ``builder`` makes the graph. ``steps`` and ``layers`` define
the kinds of steps, ``growth`` the graph that they extend, ``values`` what its nodes compute, ``calls`` what may be
called, and ``limits`` what a user may switch off. ``inputs`` makes inputs, ``dialects`` converts the graph to ATen
operators, and ``changing`` tells whether a pass changes it.
"""
