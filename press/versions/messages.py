"""Recognise the messages that readers search for, in the outputs of cells and in the record of a version."""

from __future__ import annotations

import re

MESSAGE = re.compile(
    # Words that a cell may print before the message: "created, linted, TypeError: …".
    r"^(?:[a-z]+, )*"
    r"(?P<kind>(?:\w+\.)*\w*(?:Error|Warning|Exception|SymNode)|Unsupported|BackendCompilerFailed)"
    # Where versions of Python or torch raise different errors.
    r"(?P<others>(?: or \w+Error)*)"
    # A list of error classes is not a message.
    r"(?:: ?| (?!\w*Error\b))(?P<text>\S.*)$"
)
# In the table of `front_ends`, a message follows the name of the front end.
_FRONT_END = re.compile(r"(?:symbolic_trace|make_fx|torch\.export|torch\.compile) +(?=\w)")
# Words that end a message: from there on, torch describes the program, a file or a setting.
_DETAILS = re.compile(
    r" (?:from user code|Explanation:|Set TORCH|While executing|\(…/|For more information|Hint:|Scroll up to|Caused by"
    r"|but expected one of|Traceback \(most recent|fake mode from|CUDA kernel errors|Search for)"
)
# Messages from a cell that gets something unexpected from torch; nobody would search for these words.
_OF_A_CELL = re.compile(
    r"IndexError\b|AssertionError: expected \w+(?: or \w+)* with |\w+: .* to unpack \(|.* shapes cannot be multiplied"
)


def searched(here: str) -> str:
    """The part of a recorded line that readers would search for.

    Returns:
        ``"Unsupported: missing: MATCH_CLASS"``, without the name of a front end; ``""`` if the line is not an error, or
        is one that the cell itself raises about a result from torch.
    """
    if " -> a graph of " in here:  # From a before-and-after table, which shortens the message.
        return ""
    line = re.sub(r"^(?:[a-z]+, )+", "", here[front.end() :] if (front := _FRONT_END.match(here)) else here)
    line = _DETAILS.split(line)[0].rstrip(" ,:")
    match = MESSAGE.match(line)
    return line if match and line.startswith(match["kind"] + ":") and not of_a_cell(line) else ""


def of_a_cell(message: str) -> bool:
    """Whether a message comes from a cell that gets something unexpected, and does not show the cause."""
    return bool(_OF_A_CELL.match(message))


def form(message: str) -> str:
    """A key that is equal for messages that differ only in numbers."""
    return re.sub(r"\d+", "0", message)
