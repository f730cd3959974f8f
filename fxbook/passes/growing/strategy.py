"""Random graphs for a seed, and as a strategy of Hypothesis, which makes the ones that fail smaller."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from torch import fx

from fxbook.extras import needing
from fxbook.passes.growing.builder import Builder, Step
from fxbook.passes.growing.limits import Limits

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

# The largest number at each place of a step, see Step: enough for each table and for each value of a large graph.
_MOST = Step(kind=23, call=63, first=15, second=15, way=7)
_FORMS = 15
_KINDS, _SECONDS = _MOST.kind + 1, _MOST.second + 1
# Of the eight ways the low bits go with the kind, the high one with the second value.
_WAYS = 4


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
    return Builder(allowed, drawn.randint(1, allowed.inputs), seed).grow(steps, _form(drawn.randint(0, _FORMS)))


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
    with needing("hypothesis", "random_graphs"):
        from hypothesis import note
        from hypothesis import strategies as st

    allowed = Limits(**limits)
    # Hypothesis takes out of a list what was drawn with five choices at most: four numbers, and whether to go on.
    # Where numbers may be 100 or more it also draws those that stand in the modules that happen to be loaded: the same
    # seed would give other graphs in another process.
    kinds, seconds = _KINDS * _WAYS, _SECONDS * (_MOST.way + 1) // _WAYS
    step = st.tuples(*(st.integers(0, most) for most in (kinds - 1, _MOST.call, _MOST.first, seconds - 1)))
    inputs, form = st.integers(1, allowed.inputs), st.integers(0, _FORMS)
    steps = st.lists(step, min_size=1, max_size=allowed.steps)

    @st.composite
    def grown(draw: Callable[[Any], Any]) -> fx.GraphModule:
        numbers = draw(steps)
        module = Builder(allowed, draw(inputs)).grow([_unpacked(*four) for four in numbers], _form(draw(form)))
        note(module.code.strip())
        return module

    return grown()


def _unpacked(kind_and_way: int, call: int, first: int, second_and_way: int) -> Step:
    """A step of four numbers: the spelling is in the high bits of two, which a failing example loses first."""
    way = kind_and_way // _KINDS + second_and_way // _SECONDS * _WAYS
    return Step(kind_and_way % _KINDS, call, first, second_and_way % _SECONDS, way)


def _form(number: int) -> int:
    """Half of all outputs are a single node."""
    return max(number - _FORMS // 2, 0)
