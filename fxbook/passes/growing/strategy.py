"""Random graphs for a seed, and as a strategy of Hypothesis, which makes the ones that fail smaller."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from torch import fx

from fxbook.passes.growing.grower import Grower, Step
from fxbook.passes.growing.limits import Limits

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

# The largest number at each place of a step, see Step: enough for each table and for each value of a large graph.
_MOST = Step(kind=23, call=63, first=15, second=15, way=7)
_FORMS = 15
_CALLS = _MOST.call + 1


def random_graph(seed: int, **limits: Any) -> fx.GraphModule:
    """A random graph that is valid: it lints, runs, and ``backward`` works.

    It runs for any number of rows from 1 on, with ``train=True`` from 2 on.

    Args:
        seed: the same seed gives the same graph and the same weights, in every process.
        limits: see :class:`fxbook.passes.growing.limits.Limits`.

    Returns:
        A module in eval mode (unless ``train=True``), compiled; every node has ``meta["tensor_meta"]`` as ``ShapeProp``
        makes it for three rows, and a ``meta["stack_trace"]`` that names the step it came with.

    Example:
        >>> from fxbook import inputs_for, random_graph
        >>> module = random_graph(7, steps=6, in_place=False)
        >>> module.graph.lint()
        >>> str(module.graph) == str(random_graph(7, steps=6, in_place=False).graph)
        True
        >>> result = module(*inputs_for(module))
    """
    allowed = Limits(**limits)
    drawn = random.Random(seed)
    count = drawn.randint(min(2, allowed.steps), allowed.steps)
    steps = [Step(*(drawn.randint(0, most) for most in _MOST)) for _ in range(count)]
    return Grower(allowed, drawn.randint(1, allowed.inputs), seed).grow(steps, _form(drawn.randint(0, _FORMS)))


def random_graphs(**limits: Any) -> SearchStrategy[fx.GraphModule]:
    """A strategy of Hypothesis for random graphs; a failing example ends small, and is shown with its code.

    Args:
        limits: see :class:`fxbook.passes.growing.limits.Limits`; with ``steps=30`` the graphs become larger.

    Returns:
        The strategy; what it draws is as :func:`random_graph` says.

    Raises:
        TypeError: a limit has a name or a form that is not known.
        ValueError: a limit leaves no graph.

    Example:
        >>> from hypothesis import given, settings
        >>> from fxbook import inputs_for, random_graphs
        >>> @settings(max_examples=5, deadline=None, database=None)
        ... @given(random_graphs(in_place=False))
        ... def test_it_runs(module):
        ...     module(*inputs_for(module))
        >>> test_it_runs()
    """
    from hypothesis import note
    from hypothesis import strategies as st

    allowed = Limits(**limits)
    # Hypothesis takes out of a list what was drawn with five choices at most: four numbers, and whether to go on.
    step = st.tuples(*map(st.integers, [0] * 4, (_MOST.kind, _CALLS * (_MOST.way + 1) - 1, _MOST.first, _MOST.second)))
    inputs, form = st.integers(1, allowed.inputs), st.integers(0, _FORMS)
    steps = st.lists(step, min_size=1, max_size=allowed.steps)

    @st.composite
    def grown(draw: Callable[[Any], Any]) -> fx.GraphModule:
        numbers = draw(steps)
        module = Grower(allowed, draw(inputs)).grow([_unpacked(*four) for four in numbers], _form(draw(form)))
        note(module.code.strip())
        return module

    return grown()


def _unpacked(kind: int, call_and_way: int, first: int, second: int) -> Step:
    """A step of four numbers: the spelling is in the high bits of the call, which a failing example loses first."""
    return Step(kind, call_and_way % _CALLS, first, second, call_and_way // _CALLS)


def _form(number: int) -> int:
    """Half of all outputs are a single node."""
    return max(number - _FORMS // 2, 0)
