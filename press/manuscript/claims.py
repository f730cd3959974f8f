"""The fact check: claims in the manuscript, and their verdicts.

A claim is a heading with ``<!-- claim: VERDICT; chapters: NN, NN -->`` under it. In the notebook, the heading has the
verdict, and a line under it lists the chapters; an overview page lists all claims. Very harmful claims also have a
rank: ``<!-- claim: false; chapters: 03; harm: 1 -->``.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable

from press.manuscript.problems import PressError, Problem
from press.manuscript.reading import Manuscript, anchor

VERDICTS = ("true", "false", "misleading", "outdated", "incomplete")
_MARKER = re.compile(
    r"^<!-- *claim: *(?P<verdict>\w+); *chapters: *(?P<chapters>[\d, ]+?)(?:; *harm: *(?P<harm>\d+))? *-->$"
)
_FORM = "<!-- claim: VERDICT; chapters: 03, 07 -->"
_EXAMPLE = "Example: "
_SENTENCE = re.compile(r"(.+?)(?:\.(?: |$)|:$)")


@dataclasses.dataclass(frozen=True)
class Claim:
    """A published statement, in our words, with its verdict; ``chapters`` are numbers: ``("03", "07")``.

    ``reason`` is the first sentence of the explanation; ``harm`` is the rank among the most harmful claims, or 0.
    """

    text: str
    verdict: str
    chapters: tuple[str, ...]
    line: int
    reason: str = ""
    harm: int = 0

    @property
    def name(self) -> str:
        """The anchor of the claim, whatever its verdict: an ``<a id>`` above its heading in the notebook."""
        return anchor(self.text)

    @property
    def heading(self) -> str:
        """The heading in the notebook: the verdict, then the claim."""
        if self.text.startswith(_EXAMPLE):
            kind = "Working" if self.verdict == "true" else self.verdict.capitalize()
            return f"{kind} example: {self.text.removeprefix(_EXAMPLE)}"
        return f"{self.verdict.capitalize()}: {self.text}"

    @property
    def anchor(self) -> str:
        return anchor(self.heading)


def claims(manuscript: Manuscript) -> list[Claim]:
    """The claims of a manuscript, in order.

    Raises:
        PressError: a marker is malformed or does not follow its own heading, or a heading occurs twice.
    """
    found: list[Claim] = []
    problems: list[Problem] = []
    for cell in manuscript.cells:
        if cell.kind != "markdown":
            continue
        heading = ""
        lines = cell.source.splitlines()
        for index, text in enumerate(lines):
            line = cell.line + index
            if text.startswith("### "):
                heading = text.removeprefix("### ").strip()
            elif text.startswith("<!-- claim"):
                match = _MARKER.match(text)
                if not match or match["verdict"] not in VERDICTS:
                    problems.append(manuscript.problem(line, f"write {_FORM}; a verdict is {', '.join(VERDICTS)}"))
                elif not heading:
                    problems.append(manuscript.problem(line, "a claim must be directly under its own ### heading"))
                else:
                    chapters = tuple(re.findall(r"\d\d", match["chapters"]))
                    reason = _first_sentence(lines[index + 1 :])
                    found.append(Claim(heading, match["verdict"], chapters, line, reason, int(match["harm"] or 0)))
                heading = ""
            elif text.strip():
                heading = ""
    names = [claim.name for claim in found]
    problems += [
        manuscript.problem(claim.line, f"the claim {claim.text!r} occurs twice")
        for index, claim in enumerate(found)
        if claim.name in names[:index]
    ]
    if problems:
        raise PressError(*problems)
    return found


def _first_sentence(lines: Iterable[str]) -> str:
    paragraph: list[str] = []
    for line in lines:
        if line.startswith("#"):
            break
        if line.strip():
            paragraph.append(line.strip())
        elif paragraph:
            if not paragraph[0].startswith(("*Original*", "<a id=")):
                break
            paragraph = []
    match = _SENTENCE.match(" ".join(paragraph))
    return f"{match[1]}." if match else ""
