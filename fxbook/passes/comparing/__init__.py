"""Compare two graphs the way a reviewer reads a change.

``matching`` pairs the nodes, ``nodes`` compares the two nodes of a pair, ``difference`` is the result, and ``unified``
is its text.
"""
