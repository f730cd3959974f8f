"""The words in which a check is written: cases to try an answer on, and rules that must hold of what it did.

``exercise`` says what is asked, ``trial`` makes one case of it, ``view`` is what a rule reads, ``rule`` what a rule is;
``predicates`` are the rules that many exercises share, ``explained`` the same with the place that explains each fault,
``families`` the spellings of an operation, ``values`` what an answer returned as plain data. The exercises themselves
are in :mod:`fxbook.tasks`.
"""

from fxbook.asking.exercise import Beside, Case, Check, Exercise, Usage, eager, nothing, traced

__all__ = ["Beside", "Case", "Check", "Exercise", "Usage", "eager", "nothing", "traced"]
