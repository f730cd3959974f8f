"""Compare two graphs, as a reviewer would read the change.

``matching`` says which node of one is which of the other, ``nodes`` what differs between two of a pair, ``difference``
puts both together, as what a test asks and a notebook shows, and ``unified`` is the text.
"""
