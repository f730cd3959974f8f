"""The prose follows proselint's rules and the book's own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from proselint.checks import __register__
from proselint.registry import CheckRegistry
from proselint.registry.checks import Check, types
from proselint.registry.checks.engine import Fancy
from proselint.tools import LintFile

from press import ROOT

PROSELINT = [
    "archaism",
    "cliches",
    "hedging",
    "malapropisms",
    "mixed_metaphors",
    "mondegreens",
    "needless_variants",
    "nonwords",
    "oxymorons",
    "redundancy",
    "spelling",
    "uncomparables",
]
# From what to write to the pattern that it replaces.
HABITS = {
    "its own graph": r"\bof (?:its|their) own\b(?!\s\w)",
    "it is not a node": r"(?<![Tt]here) (?:is|are|was|were) no (?:node|graph|module|tensor|layer|leaf|input)s?\b",
    "rejects": r"\brefus(?:e|es|ed|ing|al|als)\b",
    "fix": r"\b(?:mend(?:s|ed|ing)?|cur(?:es?|ed))\b",
    "shows, says": r"\btells\b(?! (?:you|torch|it|them)\b)",
    "is, comes, appears": r"\bstands? (?:before|after|behind|beside|alone|between|there)\b",
    "next to": r"\bbeside\b",
    "only if, even if": r"\b(?:also|even) where\b",
    "calling f": r"\b(?:a|the) (?:call|run) of `",
    "anyway": r"\ball the same\b",
    "user of a node": r"\breaders? of (?:a|the|this|each|every|that) (?:node|value|result)\b",
    "by then": r"\b(?:thereby|therein|hereby|whereby)\b",
}
PAGES = [*(ROOT / "book").rglob("*.md"), *ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
EXERCISES = sorted((ROOT / "fxbook" / "tasks").rglob("*.md"))
# Code, comments and link addresses.
_NOT_PROSE = re.compile(r"^(```+).*?^\1 *$|<!--.*?-->|`[^`\n]+`|(?<=\])\([^)\s]*\)|<[^>\n]+>", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module", autouse=True)
def _rules() -> None:
    engine = Fancy()
    own = [
        Check(types.Existence((pattern,), padding=types.Padding.RAW), engine, f"habits.{n}", f"Rather: {instead}.")
        for n, (instead, pattern) in enumerate(HABITS.items())
    ]
    CheckRegistry().register_many((*__register__, *own))


def prose(text: str) -> str:
    """The text with code, comments and addresses blanked out, and the same line numbers."""

    def blank(found: re.Match[str]) -> str:
        whole = found[0]
        if whole.startswith("`") and "\n" not in whole:
            return f"`{'x' * (len(whole) - 2)}`"
        return re.sub(r"[^\n]", " ", whole)

    return _NOT_PROSE.sub(blank, text)


def findings(path: Path) -> Iterator[str]:
    text = prose(path.read_text(encoding="utf-8"))
    config = {"max_errors": 1000, "checks": dict.fromkeys([*PROSELINT, "habits"], True)}
    for result in LintFile(str(path), text).lint(config):
        start, end = (place - 1 for place in result.check_result.span)
        around = " ".join(text[max(0, start - 40) : end + 40].split())
        line = text.count("\n", 0, start) + 1
        yield f"{path.relative_to(ROOT)}:{line}: {result.check_result.message} … {around} …"


@pytest.mark.parametrize("kind", [PAGES, EXERCISES], ids=["pages", "exercises"])
def test_prose_follows_the_rules(kind: list[Path]) -> None:
    found = [finding for path in kind for finding in findings(path)]
    assert not found, f"{len(found)} in all\n" + "\n".join(found)
