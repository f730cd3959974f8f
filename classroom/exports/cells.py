"""Edit single cells of a CSV file from a learning system and leave every other byte unchanged."""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from pathlib import Path

from classroom.exports import ExportError

_MOST = 50 << 20
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


class Cells:
    """The rows of a CSV file. Encoding, delimiter and line ends are kept.

    Raises:
        ExportError: it cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            data = path.read_bytes()
        except OSError as error:
            raise ExportError(f"{path} cannot be read ({error.strerror or error}).") from error
        if len(data) > _MOST:
            raise ExportError(f"{path} is too large for a class: give the CSV file from your learning system.")
        self._mark, self._encoding = next((pair for pair in _MARKS if data.startswith(pair[0])), (b"", "utf-8"))
        try:
            text = data[len(self._mark) :].decode(self._encoding)
        except UnicodeDecodeError:
            # Older versions of Excel write Latin-1, which has a character for every byte, so all bytes survive.
            self._encoding = "latin-1"
            text = data.decode(self._encoding)
        if "\0" in text:
            raise ExportError(f"{path} is not a CSV file: download it again as CSV.")
        first = text.partition("\n")[0]
        self._delimiter = max(",;\t", key=first.count)
        self._raw, self._ends = _split(text, self._delimiter)

    def __len__(self) -> int:
        return len(self._raw)

    def row(self, at: int) -> list[str]:
        return [_text(cell) for cell in self._raw[at]]

    def fill(self, row: int, column: int, number: str) -> None:
        quoted = self._raw[row][column].lstrip().startswith('"') or self._delimiter in number
        self._raw[row][column] = f'"{number}"' if quoted else number

    def data(self) -> bytes:
        lines = zip(self._raw, self._ends, strict=True)
        return self._mark + "".join(self._delimiter.join(cells) + end for cells, end in lines).encode(self._encoding)


def column(header: Sequence[str], *names: str) -> int | None:
    plain = [name.strip().casefold() for name in header]
    return next((plain.index(name.casefold()) for name in names if name.casefold() in plain), None)


def written(points: float) -> str:
    """Format points as learning systems do: ``17``, ``8.5``, ``3.33``."""
    return f"{points:.2f}".rstrip("0").rstrip(".")


def _split(text: str, delimiter: str) -> tuple[list[list[str]], list[str]]:
    """Split text into rows of raw cells, and the line end of each row."""
    rows, ends = [], []
    cells: list[str] = []
    start, quoted = 0, False
    at = 0
    while at < len(text):
        char = text[at]
        if quoted and text.startswith('""', at):
            at += 1
        elif quoted or (char == '"' and not text[start:at].strip()):
            # A quote opens only at the beginning of a cell.
            quoted = (char == '"') != quoted
        elif char == delimiter:
            cells.append(text[start:at])
            start = at + 1
        elif char in "\r\n":
            end = "\r\n" if text.startswith("\r\n", at) else char
            rows.append([*cells, text[start:at]])
            ends.append(end)
            cells = []
            at += len(end) - 1
            start = at + 1
        at += 1
    if cells or start < len(text):
        rows.append([*cells, text[start:]])
        ends.append("")
    return rows, ends


def _text(raw: str) -> str:
    bare = raw.strip()
    if len(bare) > 1 and bare[0] == bare[-1] == '"':
        return bare[1:-1].replace('""', '"')
    return raw
