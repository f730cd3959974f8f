"""The report on a pass, as text and as a table: faults, advice, and how often each invariant was checked."""

from __future__ import annotations

import dataclasses
import html
import re
from collections.abc import Mapping
from typing import Any

_WHOLE = 'style="overflow-wrap:normal;white-space:nowrap"'


class InvariantError(AssertionError):
    """A pass breaks an invariant. Each invariant has its own subclass, so that Hypothesis can tell faults apart."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _raised, (type(self).__name__, self.args)


_classes: dict[str, type[InvariantError]] = {}


def error_of(invariant: str) -> type[InvariantError]:
    """The error class for an invariant, by name: ``ValuesError`` for ``values``."""
    name = "".join(part.capitalize() for part in invariant.split("_")) + "Error"
    return _classes.setdefault(name, type(name, (InvariantError,), {"__module__": __name__}))


def _raised(name: str, args: tuple[Any, ...]) -> InvariantError:
    return _classes.setdefault(name, type(name, (InvariantError,), {"__module__": __name__}))(*args)


@dataclasses.dataclass(frozen=True)
class Finding:
    """One broken invariant.

    Attributes:
        invariant: its name.
        message: what is wrong, and where, as a sentence without its full stop.
        node: the name of the node where the fault shows, or ``""``.
        cure: what to do.
    """

    invariant: str
    message: str
    node: str = ""
    cure: str = ""

    def __str__(self) -> str:
        return f"{self.invariant}: {self.message}" + (f"; {self.cure}" if self.cure else "")


@dataclasses.dataclass(frozen=True)
class Changes:
    """How much a pass changed: nodes (by name), modules and stored tensors, including those of nested graphs."""

    added: int = 0
    removed: int = 0
    changed: int = 0
    stored: int = 0
    nodes: int = 0

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed or self.stored)

    def __str__(self) -> str:
        counts = ((self.changed, "changed"), (self.added, "added"), (self.removed, "removed"))
        told = ", ".join(f"{count} {what}" for count, what in counts if count) or "none changed"
        stored = f"; {self.stored} modules or stored tensors differ" if self.stored else ""
        return f"of {self.nodes} nodes {told}{stored}"


@dataclasses.dataclass(frozen=True, eq=False)
class PassReport:
    """The report on a pass; true if there is no fault.

    Attributes:
        name: the name of the pass.
        result: what the pass returned.
        faults: the broken invariants, the most important first.
        advice: broken conventions, and what could not be checked.
        checked: for each invariant, by name, on how many inputs it was checked, or why it was not.
        changes: how much the pass changed.
    """

    name: str
    result: Any
    faults: tuple[Finding, ...]
    advice: tuple[Finding, ...]
    checked: Mapping[str, int | str]
    changes: Changes
    _cause: Exception | None = dataclasses.field(default=None, repr=False)

    def __bool__(self) -> bool:
        return not self.faults

    def require(self) -> PassReport:
        """Return the report itself if there is no fault.

        Raises:
            AssertionError: there is a fault; the message is the whole report, and the class is that of the first
                fault.
        """
        if self.faults:
            raise error_of(self.faults[0].invariant)(str(self)) from self._cause
        return self

    @property
    def not_checked(self) -> dict[str, str]:
        return {name: why for name, why in self.checked.items() if isinstance(why, str)}

    def __str__(self) -> str:
        lines = [self._head]
        lines += [f"! {fault}" for fault in self.faults]
        lines += [f"· {advice}" for advice in self.advice]
        return "\n".join([*lines, *(f"  {line}" for line in self._checked_on)])

    __repr__ = __str__

    @property
    def _head(self) -> str:
        checked = len(self.checked) - len(self.not_checked)
        if any(fault.invariant == "runs" for fault in self.faults):
            return f"{self.name} does not run"
        verdict = f"breaks {len(self.faults)} of {checked} invariants" if self.faults else f"keeps {checked} invariants"
        return f"{self.name} {verdict}; {self.changes}"

    @property
    def _checked_on(self) -> list[str]:
        """One line per number of inputs, with the invariants checked on it; then what was not checked, and why."""
        counts: dict[int, list[str]] = {}
        for name, count in self.checked.items():
            if isinstance(count, int):
                counts.setdefault(count, []).append(name)
        reasons: dict[str, list[str]] = {}
        for name, why in self.not_checked.items():
            reasons.setdefault(why, []).append(name)
        told = [f"checked on {count} input{'' if count == 1 else 's'}: {_listed(of)}" for count, of in counts.items()]
        return told + [f"not checked: {_listed(of)} ({why})" for why, of in reasons.items()]

    def _repr_html_(self) -> str:
        from fxbook.drawing import style

        rows = [("fault", fault) for fault in self.faults] + [("advice", advice) for advice in self.advice]
        body = "".join(
            f"<tr><td {_WHOLE}>{'<strong>! fault</strong>' if kind == 'fault' else '· advice'}</td>"
            f"<td {_WHOLE}><code>{html.escape(one.invariant)}</code></td>"
            f"<td>{_text(one.message)}</td><td>{_text(one.cure)}</td></tr>"
            for kind, one in rows
        )
        heads = "".join(f'<th scope="col">{head}</th>' for head in ("", "invariant", "what", "cure"))
        table = f'<table class="fx-table"><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>' if rows else ""
        checked = "".join(f"<li>{html.escape(line)}</li>" for line in self._checked_on)
        return (
            f'<div class="fx-drawing" role="group" aria-label="{html.escape(self._head, quote=True)}">'
            f"<style>{style()}</style><p><strong>{html.escape(self._head)}</strong></p>{table}"
            f"<details><summary>What was checked</summary><ul>{checked}</ul></details></div>"
        )


def _listed(names: list[str]) -> str:
    return ", ".join(names) if len(names) <= 4 else f"{len(names)} invariants"


def _text(said: str) -> str:
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", html.escape(said))
