"""The words in which ``cases.py`` and ``check.py`` say what an exercise is: cases, and how an answer is used on them.

``exercise`` holds the specification, ``running`` runs a result on the inputs of a case, ``values`` writes what an
answer returned as plain data. It goes where answers run, so it knows no rule: those are in :mod:`fxbook.rules`.
"""

from fxbook.cases.exercise import Case, Check, Exercise, ExtraOutput, Usage, eager, nothing, traced

__all__ = ["Case", "Check", "Exercise", "ExtraOutput", "Usage", "eager", "nothing", "traced"]
