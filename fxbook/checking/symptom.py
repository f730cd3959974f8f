"""Find the entry of *When it breaks* whose heading is the error message that an answer raised."""

from __future__ import annotations

import difflib
import re

from fxbook.catalogue import headings

_RAISED = re.compile(r"\braises (?P<kind>\w+): (?P<text>.+)", re.DOTALL)
_ENTRY = re.compile(r"(?P<kind>\w+(?:Error|Exception|Warning)|Unsupported): (?P<text>(?!.*, from ).+)")
_WORD = re.compile(r"\w+(?:\.\w+)*")
# Names and numbers differ from model to model; the rest of a message is the same.
_ALIKE = 0.7
# Python's own messages are short and similar; the names and types in them make the difference.
_QUOTED = re.compile(r"'(\w+)'")
_NAMED = re.compile(r"\b(?:[A-Z]\w+\b(?!\.)|\w+(?=' object)|\w+(?=\(\) (?:missing|takes)))")
# Python's wording since 3.12, and the earlier wording, which the heading uses.
_NOW = "parameter without a default follows parameter with a default"
_BEFORE = "non-default argument follows default argument"
_INDEXED = re.compile(r"\b(?:tuple|list|assignment)\b")
_NEEDED = {
    "AttributeError": _QUOTED,
    "IndexError": _INDEXED,
    "KeyError": _QUOTED,
    "NameError": _QUOTED,
    "TypeError": _NAMED,
}


def entry_of(message: str, chapter: str = "") -> str:
    """``"chapter#anchor"`` of the entry about the error that a report's message names, or ``""``.

    In a tie, the entry of ``chapter`` wins.
    """
    raised = _RAISED.search(message)
    if not raised:
        return ""
    said = raised["text"].replace(_NOW, _BEFORE)
    best = (0.0, False, False, "")
    for place, heading in headings():
        entry = _ENTRY.match(heading)
        if entry and entry["kind"] == raised["kind"]:
            alike = _alike(entry["text"], said)
            needed = _NEEDED[entry["kind"]].findall(entry["text"]) if entry["kind"] in _NEEDED else ()
            if alike >= _ALIKE and _names(said).issuperset(needed):
                folder, _, page = place.partition("#")[0].rpartition("/")
                if chapter and _is_of_part_two(page) and not _is_of_part_two(chapter):
                    continue  # The learner has not read that chapter yet.
                # Ties go to the exercise's chapter, then to a chapter rather than to its companion.
                best = max(best, (alike, page == chapter, not folder, place))
    return best[3]


def _is_of_part_two(page: str) -> bool:
    return page[:2].isdigit() and page >= "10"


def _names(text: str) -> set[str]:
    words = _WORD.findall(text)
    return {*words, *(word.rpartition(".")[2] for word in words)}


def _alike(heading: str, message: str) -> float:
    """The share of a heading's words that the message contains in this order."""
    meant, said = _WORD.findall(heading), _WORD.findall(message)
    blocks = difflib.SequenceMatcher(None, meant, said, autojunk=False).get_matching_blocks()
    # If the match begins later in the message, the message only quotes the heading.
    return sum(block.size for block in blocks) / len(meant) if blocks[0].b < 3 else 0.0
