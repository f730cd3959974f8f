"""Random graphs that are valid, differentiable and small, each built from a list of steps.

``strategy`` draws the steps and is the public interface; ``builder`` makes the graph. ``steps`` and ``layers`` are the
kinds of steps, ``growth`` is the graph that they extend, ``values`` is what its nodes compute, ``calls`` lists what may
be called, ``limits`` lists what a user may switch off, and ``inputs`` makes inputs. ``dialects`` converts the graph to
ATen operators, and ``changing`` tells whether a pass changes it.
"""
