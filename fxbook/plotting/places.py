"""Draw where each argument of a call is kept: in ``args``, by position, or in ``kwargs``, by name."""

from __future__ import annotations

from collections.abc import Mapping

from torch import fx

from fxbook.plotting.plot import plot

_ROW = 40
_CALL, _ARGS, _KWARGS, _END = 0.0, 4.1, 6.6, 10.0


def places(calls: Mapping[str, fx.Node], title: str) -> None:
    """Show a row for each call: the call as it was written, then its arguments in ``args`` and those in ``kwargs``.

    ``calls`` maps the text of each call to the node that was traced from it.
    """
    says = "; ".join(f"{text} has args {node.args} and kwargs {dict(node.kwargs)}" for text, node in calls.items())
    with plot(title, f"{says}.", _ROW * (len(calls) + 1)) as axes:
        axes.set(xlim=(_CALL, _END), ylim=(len(calls) + 0.5, -0.7))
        axes.set_axis_off()
        for x, heading in ((_CALL, "the call, as written"), (_ARGS, "args"), (_KWARGS, "kwargs")):
            axes.text(x, 0, heading, va="center", weight="bold")
        for row, (text, node) in enumerate(calls.items(), start=1):
            axes.text(_CALL, row, text, va="center")
            named = [f"{name} = {value}" for name, value in node.kwargs.items()]
            for start, colour, kept in ((_ARGS, "C0", map(str, node.args)), (_KWARGS, "C1", named)):
                box = {"boxstyle": "round,pad=0.3", "facecolor": "none", "edgecolor": colour, "linewidth": 2}
                left = start
                for one in kept:
                    axes.text(left + 0.1, row, one, va="center", bbox=box)
                    left += 0.45 + 0.17 * len(one)
