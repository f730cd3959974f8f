"""Compare two graphs, as a reviewer would read the change.

``matching`` pairs the nodes, ``nodes`` compares the two nodes of a pair, ``difference`` is the result, and ``unified``
is its text.
"""
