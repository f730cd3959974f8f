"""The exercises of chapters that are not in ``fxbook/tasks`` yet."""

from fxbook.asking import Case, eager, nothing, traced
from fxbook.asking.rule import Violation
from fxbook.asking.view import CaseView
from fxbook.checks.legacy import Exercise, Property

__all__ = ["Case", "CaseView", "Exercise", "Property", "Violation", "eager", "nothing", "traced"]
