"""Step through a run: one node per frame, with the values that are alive, their bytes, and what was freed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import torch
from torch import fx, nn

from fxbook.drawing.lettering import clean, wrap
from fxbook.graph.record import record
from fxbook.stepping.animation import Animation
from fxbook.stepping.player import Frame, Panel, Player
from fxbook.stepping.run.panels import LEGEND, node_table, value_table
from fxbook.stepping.run.picture import animation
from fxbook.stepping.run.plot import FINE_NODES, plot
from fxbook.stepping.run.record import Method, record_run
from fxbook.stepping.run.subject import Subject, frames_of, run_subject
from fxbook.stepping.run.text import caption, closing_lines, error_text, freed_text, text_table


class RunStepper:
    """A recorded run. Put it at the end of a cell to step through it; as text, it is a table of the nodes.

    Creating the stepper runs the graph once, with an ``fx.Interpreter`` and copies of the inputs. For each node it
    shows the arguments, the result (dtype, shape, first numbers), which values are alive, how many bytes they hold,
    and which values were freed afterwards. All of this is measured: bytes are counted from the storages that are alive,
    with shared storages counted once, and parameters and buffers separately. Memory that an operation allocates and
    frees internally is not visible.

    The run is an ordinary call: it uses the caller's grad mode, advances the random generator, and updates a BatchNorm
    in training mode. If the run fails, the error is shown, not raised.

    Example:
        >>> import torch
        >>> from fxbook import RunStepper
        >>> RunStepper(torch.fx.symbolic_trace(torch.nn.ReLU()), torch.ones(2))
        ReLU, run by Interpreter.run
        ...
    """

    def __init__(
        self,
        traced: fx.GraphModule | fx.Graph,
        *inputs: Any,
        boxed: bool = False,
        compare: Literal["run", "boxed_run"] | fx.GraphModule | fx.Graph | None = None,
        title: str | None = None,
    ) -> None:
        """Run the graph, and the second one to compare it with.

        Args:
            traced: the module to run, or a graph; a graph that no module owns runs without submodules.
            inputs: the inputs, as in ``traced(*inputs)``. Tensors are copied first, so that your own keep nothing
                alive.
            boxed: call ``Interpreter.boxed_run``, which frees each input after its last use, instead of
                ``Interpreter.run``, which holds all of them to the end.
            compare: a second run to show next to the first: ``"run"`` or ``"boxed_run"`` for the same graph, or another
                module or graph, run like the first. Both start from the same state of the random generator.
            title: the caption; by default, the module's name and how it was run.

        Raises:
            TypeError: there is no graph to run.
            ValueError: ``compare`` is unknown, or is the run that is already shown.
        """
        method: Method = "boxed_run" if boxed else "run"
        _check(compare, method)
        graph, name = record(traced), _name_of(traced)
        other = record(compare) if compare is not None and not isinstance(compare, str) else graph
        with torch.random.fork_rng(devices=[], enabled=compare is not None):
            first = record_run(*_parts(traced), inputs, method)
        labels = [method, str(compare)]
        if other is not graph:
            labels = [name, _name_of(compare)] if name != _name_of(compare) else ["first graph", "second graph"]
        self._subjects: list[Subject] = [run_subject(labels[0], graph, first)]
        if isinstance(compare, str):
            self._subjects.append(run_subject(labels[1], graph, record_run(*_parts(traced), inputs, compare)))
        elif compare is not None:
            second = record_run(*_parts(compare), inputs, method)
            self._subjects.append(run_subject(labels[1], other, second, len(graph)))
        how = " and ".join(dict.fromkeys(f"Interpreter.{subject.run.method}" for subject in self._subjects))
        self.title = clean(title, 200) if title is not None else f"{name}, run by {how}"

    def __repr__(self) -> str:
        lines = [*wrap(self.title, 100, 2), *self._remarks()]
        for group in self._drawn_together:
            lines += [group[0].label] if len(self._drawn_together) > 1 else []
            lines += [text_table(group), *closing_lines(group)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return self._player()._repr_html_()

    @property
    def _drawn_together(self) -> list[list[Subject]]:
        """Runs of one graph share its drawing and its tables; runs of two graphs have their own."""
        if len({id(subject.graph) for subject in self._subjects}) == 1:
            return [self._subjects]
        return [[subject] for subject in self._subjects]

    def _player(self) -> Player:
        spans = frames_of(self._subjects)
        if not spans:
            return Player(self.title, [self._nothing_ran()])
        animations = [animation(group, spans) for group in self._drawn_together]
        memory = plot(self._subjects, spans)
        frames = [self._frame(at, spans, animations, memory) for at in range(len(spans))]
        if len(animations) == 1:
            wide = ("drawing node memory", "drawing values values")
            return Player(self.title, frames, (("drawing",), ("node", "memory", "values")), LEGEND, wide)
        columns = (("drawing", "memory", "values"), ("second", "node", "others"))
        wide = ("drawing second node", "drawing second memory", "drawing second values", "drawing second others")
        return Player(self.title, frames, columns, LEGEND, wide)

    def _frame(self, at: int, spans: Sequence[range], animations: Sequence[Animation], memory: Animation) -> Frame:
        span, groups = spans[at], self._drawn_together
        two = len(groups) > 1
        fine = all(len(subject.graph) <= FINE_NODES for subject in self._subjects)
        heading = "up when a result is made, down when values are freed" if fine else "when each result was made"
        panels = [Panel("memory", f"Live memory: {heading}", memory, "Memory")]
        for group, keys, drawing in zip(
            groups, (("drawing", "values"), ("second", "others")), animations, strict=False
        ):
            label = f"{group[0].label}: all" if two else "All"
            panels.append(Panel(keys[0], group[0].label if two else "", drawing, "" if two else "Graph"))
            panels.append(
                Panel(
                    keys[1],
                    f"{label} values after {'this node' if len(span) == 1 else 'these nodes'}",
                    value_table(group, span),
                    f"{group[0].label}: values" if two else "Values",
                )
            )
        now = "".join(node_table(group[0], span, group[0].label if two else "") for group in groups)
        panels.append(Panel("node", "This node" if len(span) == 1 else "These nodes", now, "Node"))
        return Frame(caption(self._subjects, span), panels, self._said(at, spans))

    def _said(self, at: int, spans: Sequence[range]) -> list[str]:
        """The remarks on a frame: first on the whole run, then what each of two runs freed, errors, and peaks."""
        span, last = spans[at], at == len(spans) - 1
        remarks = [f"! {text}" for text in self._remarks()] if at == 0 else []
        for subject in self._subjects if len(self._subjects) > 1 else ():
            freed = ", ".join(filter(None, (freed_text(subject, step) for step in span)))
            remarks.append(f"{subject.label} frees {freed or 'nothing'}.")
        for subject in self._subjects:
            failed = subject.run.failed
            if subject.run.error is not None and (failed in span or (last and failed is None)):
                label = f"{subject.label}: " if len(self._subjects) > 1 else ""
                remarks.append(f"! {label}{error_text(subject)}")
        return remarks + (closing_lines(self._subjects, errors=False) if last else [])

    def _nothing_ran(self) -> Frame:
        remarks = [*self._remarks(), *(error_text(subject) for subject in self._subjects if subject.run.error)]
        drawings = (
            [Panel("drawing", "", animation(self._subjects[:1], [range(0)]))] if len(self._subjects[0].graph) else []
        )
        return Frame("No node ran.", drawings, [f"! {text}" for text in dict.fromkeys(remarks)])

    def _remarks(self) -> list[str]:
        said = []
        for subject in self._subjects:
            said += [] if len(subject.graph) else ["The graph has no nodes."]
            said += [f"lint: {clean(subject.graph.lint, 300)}"] if subject.graph.lint else []
            said += ["The compiled code is older; the interpreter runs the graph."] if subject.graph.stale else []
            said += [subject.grouped] if subject.grouped else []
            said += subject.run.remarks
        return [line for text in dict.fromkeys(said) for line in wrap(text, 98, 4)]


def _check(compare: object, method: str) -> None:
    if compare is None or isinstance(compare, fx.Graph | fx.GraphModule):
        return
    if not isinstance(compare, str) or compare not in ("run", "boxed_run"):
        given = repr(clean(compare, 40)) if isinstance(compare, str) else f"an object of class {type(compare).__name__}"
        raise ValueError(f"compare: {given} is not known; use 'run', 'boxed_run' or another GraphModule")
    if compare == method:
        other = "run" if method == "boxed_run" else "boxed_run"
        raise ValueError(f"compare: {method!r} is the run that is already shown; use {other!r}")


def _parts(traced: fx.GraphModule | fx.Graph) -> tuple[nn.Module, fx.Graph]:
    if isinstance(traced, fx.Graph):
        return traced.owning_module or nn.Module(), traced
    return traced, traced.graph


def _name_of(traced: object) -> str:
    kind = type(traced).__name__
    # symbolic_trace of a lambda makes a class named <lambda>.
    return clean(kind, 60) if kind.isidentifier() and kind not in ("Graph", "GraphModule") else "Graph"
