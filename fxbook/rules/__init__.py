"""The rules of a check: what must hold of what an answer did, and the first node at which it does not.

``rule`` says what a rule is, ``trial`` makes one case anew, ``view`` is what a rule reads; ``predicates`` are the rules
that many exercises share, ``explained`` the same with the place that explains each fault, ``families`` the spellings of
an operation, ``divergence`` finds the first node whose value differs.
"""
