"""The fact check: a claim is a heading with ``<!-- claim: VERDICT; chapters: NN, NN -->`` under it, printed with the
verdict in the heading and a line of the chapters, and collected for the page that lists all of them. A claim that does
much harm is marked with its rank besides: ``<!-- claim: false; chapters: 03; harm: 1 -->``."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable

from press.manuscript.problems import PressError, Problem
from press.manuscript.reading import Cell, Manuscript, anchor

VERDICTS = ("true", "false", "misleading", "outdated", "incomplete")
_MARKER = re.compile(
    r"^<!-- *claim: *(?P<verdict>\w+); *chapters: *(?P<chapters>[\d, ]+?)(?:; *harm: *(?P<harm>\d+))? *-->$"
)
_FORM = "<!-- claim: VERDICT; chapters: 03, 07 -->"
_EXAMPLE = "Example: "
_SENTENCE = re.compile(r"(.+?)(?:\.(?: |$)|:$)")


@dataclasses.dataclass(frozen=True)
class Claim:
    """What somebody wrote, in our words, and what is to be said of it; ``chapters`` are numbers: ``("03", "07")``.

    ``said`` is the first sentence of what follows; ``harm`` is the rank among the claims that do the most harm, or 0.
    """

    text: str
    verdict: str
    chapters: tuple[str, ...]
    line: int
    said: str = ""
    harm: int = 0

    @property
    def name(self) -> str:
        """The anchor of the claim, whatever its verdict: an ``<a id>`` above its printed heading."""
        return anchor(self.text)

    @property
    def heading(self) -> str:
        """Its printed heading, which stands alone in a list of contents: the verdict, then the claim."""
        if self.text.startswith(_EXAMPLE):
            kind = "Working" if self.verdict == "true" else self.verdict.capitalize()
            return f"{kind} example: {self.text.removeprefix(_EXAMPLE)}"
        return f"{self.verdict.capitalize()}: {self.text}"

    @property
    def anchor(self) -> str:
        """The anchor of its printed heading."""
        return anchor(self.heading)


def claims(manuscript: Manuscript) -> list[Claim]:
    """The claims of a manuscript, in its order; none in most.

    Raises:
        PressError: a marker is not of the form, does not follow a heading of its own, or a heading occurs twice.
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
                    problems.append(manuscript.problem(line, "a claim stands directly under a heading ### of its own"))
                else:
                    chapters = tuple(re.findall(r"\d\d", match["chapters"]))
                    said = _first_sentence(lines[index + 1 :])
                    found.append(Claim(heading, match["verdict"], chapters, line, said, int(match["harm"] or 0)))
                heading = ""
            elif text.strip():
                heading = ""
    names = [claim.name for claim in found]
    problems += [
        manuscript.problem(claim.line, f"the claim {claim.text!r} stands here twice")
        for index, claim in enumerate(found)
        if claim.name in names[:index]
    ]
    if problems:
        raise PressError(*problems)
    return found


def with_verdicts(manuscript: Manuscript, found: Iterable[Claim], chapters: Iterable[str]) -> list[Cell]:
    """The cells of a manuscript, each claim with its verdict in the heading and its chapters under it.

    A heading keeps the anchor that it has without the verdict; links within the page lead to the heading as printed.

    Args:
        manuscript: the page.
        found: its claims.
        chapters: the names of the chapters that there are: ``"03_replacement"``.

    Raises:
        PressError: a chapter is not there.
    """
    at = {claim.line: claim for claim in found}
    files = {name[:2]: name for name in chapters}
    if problems := [
        manuscript.problem(claim.line, f"there is no chapter {number}")
        for claim in at.values()
        for number in claim.chapters
        if number not in files
    ]:
        raise PressError(*problems)
    printed = {claim.name: claim for claim in at.values()}

    def shown(line: int, text: str) -> str:
        if text.startswith("### ") and (claim := printed.get(anchor(text.removeprefix("### ")))):
            return f'<a id="{claim.name}"></a>\n\n### {claim.heading}'
        claim = at.get(line)
        if claim is None:
            return re.sub(r"\]\(#([\w-]+)\)", lambda link: _led(link, printed), text)
        links = ", ".join(f"[{number}](../{files[number]}.ipynb)" for number in claim.chapters)
        word = "Chapter" if len(claim.chapters) == 1 else "Chapters"
        return f'<div class="fx-verdict fx-verdict-{claim.verdict}">\n\n{word} {links}\n\n</div>'

    return [
        cell
        if cell.kind == "code"
        else dataclasses.replace(
            cell, source="\n".join(shown(n, text) for n, text in enumerate(cell.source.splitlines(), start=cell.line))
        )
        for cell in manuscript.cells
    ]


def _led(link: re.Match[str], printed: dict[str, Claim]) -> str:
    """A link within the page, to the printed heading where it leads to a claim."""
    claim = printed.get(link[1])
    return f"](#{claim.anchor})" if claim else link[0]


def _first_sentence(lines: Iterable[str]) -> str:
    """The first sentence of an entry, without the original phrase and the anchors before it; "" for none."""
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
