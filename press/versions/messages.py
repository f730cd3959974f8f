"""Which lines are messages that somebody looks for: those that a cell prints, and those in the record of a version."""

from __future__ import annotations

import re

MESSAGE = re.compile(
    # After what a cell may print first: "created, linted, TypeError: …".
    r"^(?:[a-z]+, )*"
    r"(?P<kind>(?:\w+\.)*\w*(?:Error|Warning|Exception|SymNode)|Unsupported|BackendCompilerFailed)"
    # Where versions of Python or torch raise several.
    r"(?P<others>(?: or \w+Error)*)"
    # A list of classes of errors is no message.
    r"(?:: ?| (?!\w*Error\b))(?P<text>\S.*)$"
)
# In the table of `front_ends` a message stands behind the name of the one that it stopped.
_FRONT_END = re.compile(r"(?:symbolic_trace|make_fx|torch\.export|torch\.compile) +(?=\w)")
# Where the words of the error end, and where torch begins to tell of the program, of a file or of a setting.
_DETAILS = re.compile(
    r" (?:from user code|Explanation:|Set TORCH|While executing|\(…/|For more information|Hint:|Scroll up to|Caused by"
    r"|but expected one of|Traceback \(most recent|fake mode from|CUDA kernel errors|Search for)"
)
# What a cell of the book says or meets, since torch gave it something else: nobody finds the cause by these words.
_OF_A_CELL = re.compile(
    r"IndexError\b|AssertionError: expected \w+(?: or \w+)* with |\w+: .* to unpack \(|.* shapes cannot be multiplied"
)


def searched(here: str) -> str:
    """The message in a line of the record, as far as somebody would look for it.

    Returns:
        ``"Unsupported: missing: MATCH_CLASS"`` of the same behind the name of a front end; ``""`` where the line is no
        error, or one that the cell raises itself over what torch gave it.
    """
    if " -> a graph of " in here:  # A table of before and after, with the words cut off.
        return ""
    line = re.sub(r"^(?:[a-z]+, )+", "", here[front.end() :] if (front := _FRONT_END.match(here)) else here)
    line = _DETAILS.split(line)[0].rstrip(" ,:")
    match = MESSAGE.match(line)
    return line if match and line.startswith(match["kind"] + ":") and not of_a_cell(line) else ""


def of_a_cell(message: str) -> bool:
    """Whether a message is of a cell that meets something else than it expects, and says nothing of the cause."""
    return bool(_OF_A_CELL.match(message))


def form(message: str) -> str:
    """What two messages share that differ in numbers alone."""
    return re.sub(r"\d+", "0", message)
