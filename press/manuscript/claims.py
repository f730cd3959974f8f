"""The fact check: a claim is a heading with ``<!-- claim: VERDICT; chapters: NN, NN -->`` under it, printed as a line
that readers see, and collected for the page that lists all of them."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable

from press.manuscript.problems import PressError, Problem
from press.manuscript.reading import Cell, Manuscript, anchor

VERDICTS = ("true", "false", "misleading", "outdated", "incomplete")
_MARKER = re.compile(r"^<!-- *claim: *(?P<verdict>\w+); *chapters: *(?P<chapters>[\d, ]+?) *-->$")
_FORM = "<!-- claim: VERDICT; chapters: 03, 07 -->"


@dataclasses.dataclass(frozen=True)
class Claim:
    """What somebody wrote, in our words, and what is to be said of it; ``chapters`` are numbers: ``("03", "07")``."""

    text: str
    verdict: str
    chapters: tuple[str, ...]
    line: int

    @property
    def anchor(self) -> str:
        """The anchor of its heading."""
        return anchor(self.text)


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
        for line, text in enumerate(cell.source.splitlines(), start=cell.line):
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
                    found.append(Claim(heading, match["verdict"], chapters, line))
                heading = ""
            elif text.strip():
                heading = ""
    anchors = [claim.anchor for claim in found]
    problems += [
        manuscript.problem(claim.line, f"the claim {claim.text!r} stands here twice")
        for index, claim in enumerate(found)
        if claim.anchor in anchors[:index]
    ]
    if problems:
        raise PressError(*problems)
    return found


def with_verdicts(manuscript: Manuscript, found: Iterable[Claim], chapters: Iterable[str]) -> list[Cell]:
    """The cells of a manuscript, each marker of a claim replaced by a line that tells the verdict.

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

    def shown(line: int, text: str) -> str:
        claim = at.get(line)
        if claim is None:
            return text
        links = ", ".join(f"[{number}](../{files[number]}.ipynb)" for number in claim.chapters)
        chapters = "chapter" if len(claim.chapters) == 1 else "chapters"
        verdict = f"**{claim.verdict.capitalize()}** · {chapters} {links}"
        return f'<div class="fx-verdict fx-verdict-{claim.verdict}">\n\n{verdict}\n\n</div>'

    return [
        cell
        if cell.kind == "code"
        else dataclasses.replace(
            cell, source="\n".join(shown(n, text) for n, text in enumerate(cell.source.splitlines(), start=cell.line))
        )
        for cell in manuscript.cells
    ]
