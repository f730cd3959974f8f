"""Show frames one at a time: plain HTML that is readable when stacked, and a script that turns it into a player.

A viewer for untrusted notebooks removes script, style, svg and ids, and sometimes inline style, but keeps the text in
them. What remains is the last frame, with pictures (``<img>``) in place of its animations, and ``<details>`` with the
earlier frames and with the text of the animations.
"""

from __future__ import annotations

import dataclasses
import functools
import html
from collections.abc import Sequence
from pathlib import Path

from fxbook.drawing import style
from fxbook.drawing.display import next_prefix
from fxbook.drawing.image import HIDDEN
from fxbook.drawing.lettering import clean, wrap
from fxbook.stepping.animation import Animation

MAX_FRAMES = 100
"""The maximum number of frames in a player: nobody steps through more, and the page has to hold them all."""
_STATIC = Path(__file__).parent.parent / "static"
_WIDTH = 100
_TWO_COLUMNS = "min(var(--fx-left),55%) minmax(0,1fr)"
_UNSEEN = f'class="fx-films" {HIDDEN}'


@dataclasses.dataclass(frozen=True)
class Panel:
    """A part of a frame: escaped HTML, or an animation (the same one in every frame).

    ``tab`` is its name where there is room for only one panel; by default, the heading.
    """

    key: str
    heading: str
    body: str | Animation
    tab: str = ""


@dataclasses.dataclass(frozen=True)
class Frame:
    """One step: what happened, and the panels that show it.

    ``caption`` and ``remarks`` are plain text. A remark that starts with ``!`` warns, one that starts with ``✓``
    confirms. ``text`` appears only in the plain-text output.
    """

    caption: str
    panels: Sequence[Panel]
    remarks: Sequence[str] = ()
    text: str = ""


class Player:
    """Frames to step through; put it at the end of a cell to show them."""

    def __init__(
        self,
        title: str,
        frames: Sequence[Frame],
        columns: Sequence[Sequence[str]] = (("drawing",), ("list", "code")),
        legend: Sequence[str] = (),
        wide: Sequence[str] = (),
    ) -> None:
        """Combine frames into a player.

        Args:
            columns: keys of panels, in the left column and the right one, each from top to bottom; the left one is as
                wide as its widest animation.
            legend: the meaning of signs and shapes, as HTML items.
            wide: rows of three keys each, for a screen with room for three columns; by default there are two.

        Raises:
            ValueError: there is no frame, or there are more than :data:`MAX_FRAMES`.
        """
        if not frames:
            raise ValueError("a player needs a frame: record one before you show it")
        if len(frames) > MAX_FRAMES:
            raise ValueError(f"a player shows at most {MAX_FRAMES} frames, got {len(frames)}: record fewer of them")
        self.title, self.frames, self.columns, self.wide = clean(title, 200), tuple(frames), columns, wide
        self.legend = "".join(f"<li>{item}</li>" for item in legend)
        animations = [
            panel.body for panel in frames[0].panels if panel.key in columns[0] and isinstance(panel.body, Animation)
        ]
        self.left = max((animation.width for animation in animations), default=400)

    def __repr__(self) -> str:
        lines = wrap(self.title, _WIDTH, 2)
        for number, frame in enumerate(self.frames, 1):
            lines += wrap(f"{number}/{len(self.frames)} {clean(frame.caption)}", _WIDTH, 6)
            lines += [f"  {line}" for remark in frame.remarks for line in wrap(clean(remark), _WIDTH - 2, 4)]
            lines += [f"  {line}" for line in frame.text.splitlines()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        prefix = next_prefix()
        animations = {
            panel.key: (f"{prefix}-{panel.key}", panel.body)
            for panel in self.frames[0].panels
            if isinstance(panel.body, Animation)
        }
        definitions = "".join(animation.definition(identity) for identity, animation in animations.values())
        words = f"<details {_UNSEEN}><summary>The words in the drawings</summary>{definitions}</details>"
        *earlier, last = (self._frame(at, frame, prefix) for at, frame in enumerate(self.frames))
        before = f'<details class="fx-earlier"><summary>{_before(len(earlier))}</summary>{"".join(earlier)}</details>'
        title = html.escape(self.title)
        signs = f'<summary>What the signs mean</summary><ul class="fx-legend">{self.legend}</ul>'
        legend = f'<details class="fx-key">{signs}</details>' if self.legend else ""
        return (
            f'<div class="fx-drawing fx-stepper" id="{prefix}" role="group" aria-label="{title}" tabindex="-1"'
            f' data-lm-suppress-shortcuts="true" style="{self._grid()}">'
            f"<style>{style()}{stepper_style()}</style>{words if definitions else ''}"
            f'<p class="fx-title">{title}</p><div class="fx-frames">{before if earlier else ""}{last}</div>{legend}'
            f"<script>{script()}</script></div>"
        )

    def _frame(self, at: int, frame: Frame, prefix: str) -> str:
        count = len(self.frames)
        number = f'<span class="fx-count">{at + 1}/{count}</span> ' if count > 1 else ""
        remarks = "".join(f"<li{_manner(text)}>{html.escape(clean(text))}</li>" for text in frame.remarks)
        listed = f'<ul class="fx-remarks">{remarks}</ul>' if remarks else ""
        panels = "".join(self._panel(at, panel, prefix) for panel in frame.panels)
        return (
            f'<div class="fx-frame" role="group" aria-label="Frame {at + 1} of {count}"><div class="fx-head">'
            f'<p class="fx-caption">{number}{html.escape(clean(frame.caption))}</p>{listed}</div>{panels}</div>'
        )

    def _panel(self, at: int, panel: Panel, prefix: str) -> str:
        heading = f'<p class="fx-heading">{html.escape(panel.heading)}</p>' if panel.heading else ""
        tab = html.escape(panel.tab or panel.heading)
        animation, body, name = "", panel.body, f' data-fx-panel="{panel.key}" data-fx-tab="{tab}"'
        if isinstance(body, Animation):
            # On a phone, a wide picture scrolls, so the keyboard must reach it.
            label = html.escape(f"{panel.heading or self.title}, frame {at + 1}")
            reach = f' role="group" tabindex="0" aria-label="{label}"' if body.width * 0.96 > 290 else ""
            animation = " fx-film"
            still = body.still(at) if at == len(self.frames) - 1 else ""
            body = f'<div class="fx-scroll"{reach}>{body.picture(f"{prefix}-{panel.key}", at)}</div>{still}'
        return f'<div class="fx-panel{animation}"{name} style="grid-area:{panel.key}">{heading}{body}</div>'

    def _grid(self) -> str:
        """The panel positions on narrow, wide and very wide screens, as custom properties for the style sheet."""
        present = {panel.key for panel in self.frames[0].panels}
        left, right = ([key for key in column if key in present] for column in self.columns)
        one = _areas([["head"], *([key] for key in (*left, *right))])
        if not left or not right:
            return f"--fx-one:{one};--fx-two:{one};--fx-three:{one};--fx-left:100%;--fx-columns:100%;--fx-rows:auto"
        rows = max(len(left), len(right))
        two = [["head"] * 2, *([left[min(i, len(left) - 1)], right[min(i, len(right) - 1)]] for i in range(rows))]
        three = [["head"] * 3, *(row.split() for row in self.wide)] if self.wide else two
        columns = "min(var(--fx-left),35%) minmax(0,1fr) 276px" if self.wide else _TWO_COLUMNS
        return (
            f"--fx-one:{one};--fx-two:{_areas(two)};--fx-three:{_areas(three)};--fx-left:{self.left:g}px;"
            f"--fx-columns:{columns};--fx-rows:{_heights(two)};--fx-wide-rows:{_heights(three)}"
        )


def _areas(rows: Sequence[Sequence[str]]) -> str:
    return " ".join(f"'{' '.join(row)}'" for row in rows)


def _heights(rows: Sequence[Sequence[str]]) -> str:
    # The last row takes the remaining height, so that the panels above stay together.
    return " ".join([*["auto"] * (len(rows) - 1), "1fr"])


def _before(count: int) -> str:
    return f"The {count} frames before the last" if count > 1 else "The frame before the last"


def _manner(remark: str) -> str:
    return {"!": ' class="fx-banner"', "✓": ' class="fx-fine"'}.get(remark[:1], "")


@functools.cache
def stepper_style() -> str:
    """The style sheet of every stepper, always the same bytes."""
    rules = ((_STATIC / name).read_text(encoding="utf-8") for name in ("stepper.css", "film.css"))
    return "".join(_short(text, "/*") for text in rules)


@functools.cache
def script() -> str:
    """The script of every stepper, always the same bytes, since a page runs it only once."""
    return _short((_STATIC / "stepper.js").read_text(encoding="utf-8"), "//", "\n")


def _short(text: str, comment: str, end: str = "") -> str:
    """The text without indentation and comment lines."""
    lines = (line.strip() for line in text.splitlines())
    return end.join(line for line in lines if line and not line.startswith(comment))
