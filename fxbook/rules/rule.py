"""Rules: what an answer must satisfy, each a generator that yields the nodes that violate it, and how.

A rule of an exercise::

    @rule("03_replacement#three-steps-in-this-order")
    def none_left_alone(case: CaseView) -> Found:
        \"\"\"Every linear is followed by a ReLU.\"\"\"
        for node in case.nodes:
            if node in LINEAR and not node.users:
                yield node, "has no user"

It yields ``(node, sentence)`` or ``(node, sentence, place)``.

- The sentence, if it begins in lower case and has no full stop, is appended to "Node `name`"; any other stays as it is.
- The node is one in the answer's graph, which the report marks; one in the given graph, which is only named; or
  ``None``.
- The place, ``"chapter#anchor"``, is where the mistake is explained. Default: the rule's place, then the exercise's.

The function's name is the rule's name in reports. Only the first violation is reported, so a rule may stop there.

A rule with settings is a function of its settings, decorated with :func:`configurable`: ``calls(RELU, times=2)``.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeAlias, overload

from fxbook.catalogue import has_place
from fxbook.graph.record import NodeRecord

if TYPE_CHECKING:
    from fxbook.rules.view import CaseView

Settings = ParamSpec("Settings")
Found: TypeAlias = "Iterator[tuple[NodeRecord | None, str] | tuple[NodeRecord | None, str, str | None]]"
Finder: TypeAlias = "Callable[[CaseView], Found]"


@dataclasses.dataclass(frozen=True)
class Violation:
    """What a rule found.

    Args:
        message: one sentence for the learner: what the graph does, and what it should do; never how.
        node: the index in the answer's graph of the node that violates the rule, which the report marks.
        given: the index in the given graph of a node that the message names.
        broken: whether the graph cannot run because of that node. Otherwise the node is sound, but not what the task
            requires.
        see: ``"chapter#anchor"`` where this mistake is explained; overrides the exercise's own ``read``.
        rule: the name of the rule.
    """

    message: str
    node: int | None = None
    see: str | None = None
    rule: str = ""
    given: int | None = None
    broken: bool = False


@dataclasses.dataclass(frozen=True)
class Rule:
    """One thing that an answer must satisfy.

    Args:
        find: yields the violations.
        reasons: rules that explain a violation of this one; the first that finds something is reported instead.
        condition: selects the cases to check; ``None`` for all.
        place: where each violation is explained; overridden by the violation itself.
    """

    name: str
    find: Finder
    reasons: tuple[Rule, ...] = ()
    condition: Callable[[CaseView], bool] | None = None
    place: str | None = None

    def __post_init__(self) -> None:
        _check_place(self.name, self.place)

    def __call__(self, case: CaseView) -> Violation | None:
        if self.condition is not None and not self.condition(case):
            return None
        found = next(iter(self.find(case)), None)
        if found is None:
            return None
        violation = first_violation(case, self.reasons) or _violation(case, self.name, *found)
        return dataclasses.replace(violation, see=self.place) if self.place else violation

    def at(self, place: str) -> Rule:
        """The same rule, with its violations explained at ``"chapter#anchor"``."""
        return dataclasses.replace(self, place=place)

    def or_because(self, *reasons: Rule) -> Rule:
        """The same rule; if it is violated, the first of ``reasons`` that finds something is reported instead.

        So a rule that accepts every correct spelling still names the mistake and its node.
        """
        return dataclasses.replace(self, reasons=reasons)

    def where(self, condition: Callable[[CaseView], bool]) -> Rule:
        return dataclasses.replace(self, condition=condition)

    def names(self) -> Iterator[str]:
        yield self.name
        for reason in self.reasons:
            yield from reason.names()


@overload
def rule(function: Finder, /) -> Rule: ...
@overload
def rule(place: str, /) -> Callable[[Finder], Rule]: ...
def rule(named: Finder | str, /) -> Rule | Callable[[Finder], Rule]:
    """Make a rule from a generator function; ``@rule("chapter#anchor")`` says where its violations are explained."""
    if not isinstance(named, str):
        return Rule(named.__name__, named)

    def placed(function: Finder) -> Rule:
        return Rule(function.__name__, _at(named, function))

    _check_place("@rule", named)
    return placed


def configurable(
    function: Callable[Concatenate[CaseView, Settings], Found],
) -> Callable[Settings, Rule]:
    """Turn ``function(case, …settings)`` into ``function(…settings)``, which returns the rule."""

    @functools.wraps(function)
    def configure(*args: Settings.args, **kwargs: Settings.kwargs) -> Rule:
        return Rule(function.__name__, lambda case: function(case, *args, **kwargs))

    return configure


def where(condition: Callable[[CaseView], bool], *rules: Rule) -> tuple[Rule, ...]:
    return tuple(each.where(condition) for each in rules)


def first_violation(case: CaseView, rules: Iterable[Rule]) -> Violation | None:
    return next((violation for each in rules if (violation := each(case))), None)


def _violation(
    case: CaseView, name: str, node: NodeRecord | None, sentence: str, place: str | None = None
) -> Violation:
    _check_place(name, place)
    if node is not None and sentence[:1].islower() and not sentence.endswith("."):
        sentence = f"Node `{node.name}` {sentence}."
    # A node in the given graph can be named, but cannot be marked in the answer's graph.
    own = node is not None and node.index < len(case.nodes) and case.nodes[node.index] is node
    if node is None:
        return Violation(sentence, None, place, name)
    if not own:
        return Violation(sentence, None, place, name, given=node.index)
    # The node that raised is a cause only if the message quotes that error; a rule may name that node for another
    # reason.
    raises = case.run_node == node.index and case.run_error is not None and case.run_error in sentence
    broken = bool(node.faults) or name == "lints" or raises
    return Violation(sentence, node.index, place, name, broken=broken)


def _at(place: str, function: Finder) -> Finder:
    def found(case: CaseView) -> Found:
        for node, sentence, *own in function(case):
            yield node, sentence, (own[0] if own else place)

    return found


def _check_place(name: str, place: str | None) -> None:
    if place is not None and not has_place(place):
        raise ValueError(f"{name}: {place!r} is not a heading in the book: see fxbook/sections.json")
