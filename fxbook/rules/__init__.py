"""The rules of a check: what must hold for an answer, and the first node at which it does not.

``rule`` defines rules, ``trial`` recreates one case, and ``view`` is what a rule reads. ``predicates`` are the rules
that many exercises share, ``explained`` adds links to the sections that explain each fault, ``families`` the
spellings of an operation, and ``divergence`` finds the first node whose value differs.
"""
