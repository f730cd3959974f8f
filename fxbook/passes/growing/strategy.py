"""Random graphs from a seed, and as a Hypothesis strategy, which shrinks failing ones."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from torch import fx

from fxbook.extras import needing
from fxbook.passes.growing.builder import grown
from fxbook.passes.growing.changing import HowOften, Pass, concerns, count, first_changed, why_none
from fxbook.passes.growing.growth import Step
from fxbook.passes.growing.limits import Limits

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

# The largest number for each field of a Step: enough for each table and for each value of a large graph.
_MOST = Step(kind=39, call=63, first=15, second=15, way=7)
_FORMS, _SHAPES = 15, 63
_KINDS, _SECONDS = _MOST.kind + 1, _MOST.second + 1
# The low bit of the eight ways is combined with the kind, the high bits with the second value.
_WAYS = 2


def random_graph(seed: int, *, changed_by: Pass | None = None, **limits: Any) -> fx.GraphModule:
    """A valid random graph: it passes ``lint``, it runs, and ``backward`` works if a result depends on a float input.

    It runs on one row or more; with ``train=True``, it needs at least two.

    Args:
        seed: the same seed gives the same graph and the same weights, in every process.
        changed_by: a pass; the graph is one that the pass changes or fails on.
        limits: see :class:`fxbook.passes.growing.limits.Limits`.

    Returns:
        A recompiled module in eval mode (unless ``train=True``). Every node has the ``meta["tensor_meta"]`` that
        ``ShapeProp`` would write for three rows, and a ``meta["stack_trace"]`` that names the step that added it.
        With ``dialect="aten"`` it has the meta of ``torch.export``. For a placeholder of integers,
        ``meta["range"]`` holds the bounds, as ``torch.randint`` takes them.

    Raises:
        TypeError: a limit has an unknown name or form.
        ValueError: a limit leaves no graph, or the pass changes none of 120 graphs; the message says what may be
            missing.

    Example:
        >>> from fxbook import inputs_for, random_graph
        >>> module = random_graph(7, steps=6, in_place=False)
        >>> module.graph.lint()
        >>> str(module.graph) == str(random_graph(7, steps=6, in_place=False).graph)
        True
        >>> result = module(*inputs_for(module))
    """
    allowed = Limits(**limits)
    if changed_by is None:
        return _for_seed(allowed, seed)
    found = first_changed(changed_by, allowed, _for_seed, seed)
    if found is None:
        raise ValueError(why_none(changed_by, allowed, _for_seed))
    return found


def random_graphs(*, changed_by: Pass | None = None, **limits: Any) -> SearchStrategy[fx.GraphModule]:
    """A Hypothesis strategy for random graphs. It shrinks a failing example and prints its code.

    Args:
        changed_by: a pass; only graphs that the pass changes or fails on are kept. If almost all graphs are dropped,
            Hypothesis raises ``FailedHealthCheck``; if all are, the message says what may be missing.
        limits: see :class:`fxbook.passes.growing.limits.Limits`; ``steps=30`` makes larger graphs.

    Returns:
        The strategy, which draws graphs like those of :func:`random_graph`.

    Raises:
        TypeError: a limit has an unknown name or form.
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
        from hypothesis.errors import FailedHealthCheck

    allowed = Limits(**limits)
    # Hypothesis removes list elements well only if each takes at most five choices: four numbers, and whether to
    # continue. For numbers of 100 or more, it also uses constants from the loaded modules, so the same seed would give
    # a different graph in another process.
    kinds, seconds = _KINDS * _WAYS, _SECONDS * (_MOST.way + 1) // _WAYS
    step = st.tuples(*(st.integers(0, most) for most in (kinds - 1, _MOST.call, _MOST.first, seconds - 1)))
    inputs, form, shapes = st.integers(1, allowed.inputs), st.integers(0, _FORMS), st.integers(0, _SHAPES)
    steps = st.lists(step, min_size=1, max_size=allowed.steps)

    @st.composite
    def made(draw: Callable[[Any], Any]) -> fx.GraphModule:
        taken = [_unpacked(*four) for four in draw(steps)]
        module = grown(allowed, taken, inputs=draw(inputs), shapes=draw(shapes), form=_form(draw(form)))
        note(module.code.strip())
        return module

    if changed_by is None:
        return made()

    @functools.cache
    def complaint() -> str:
        found = first_changed(changed_by, allowed, _for_seed)
        return why_none(changed_by, allowed, _for_seed) if found is None else ""

    def is_wanted(module: fx.GraphModule) -> bool:
        if concerns(changed_by, module):
            return True
        if complaint():
            raise FailedHealthCheck(complaint())
        return False

    return made().filter(is_wanted)


def how_often(run: Pass, graphs: int = 120, **limits: Any) -> HowOften:
    """Count the random graphs that a pass changes, because a test on graphs that it leaves alone proves nothing.

    Args:
        run: the pass.
        graphs: how many graphs to try; their seeds are 0, 1, 2 …
        limits: see :class:`fxbook.passes.growing.limits.Limits`.

    Returns:
        The numbers ``changed``, ``raised`` and ``of``; printed, ``changed 18 of 120``.

    Example:
        >>> from fxbook import how_often
        >>> print(how_often(lambda module: module.graph.lint(), 20))
        changed 0 of 20
    """
    allowed = Limits(**limits)
    return count(run, (_for_seed(allowed, seed) for seed in range(graphs)))


def _for_seed(limits: Limits, seed: int) -> fx.GraphModule:
    drawn = random.Random(seed)
    number = drawn.randint(min(2, limits.steps), limits.steps)
    steps = [Step(*(drawn.randint(0, most) for most in _MOST)) for _ in range(number)]
    inputs, form, shapes = drawn.randint(1, limits.inputs), drawn.randint(0, _FORMS), drawn.randint(0, _SHAPES)
    return grown(limits, steps, inputs=inputs, shapes=shapes, form=_form(form), seed=seed)


def _unpacked(kind_and_way: int, call: int, first: int, second_and_way: int) -> Step:
    """A step from four numbers. The spelling is in the high bits of two of them, which shrinking reduces first."""
    way = kind_and_way // _KINDS + second_and_way // _SECONDS * _WAYS
    return Step(kind_and_way % _KINDS, call, first, second_and_way % _SECONDS, way)


def _form(number: int) -> int:
    """The form of the output: a single node for half of the numbers."""
    return max(number - _FORMS // 2, 0)
