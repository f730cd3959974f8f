"""The output of a cell, and how two outputs differ: compared as nbval compares them, and classified by rule."""

from __future__ import annotations

import configparser
import dataclasses
import difflib
import functools
import re
from collections.abc import Iterable

from nbformat import NotebookNode

from press import ROOT
from press.versions.messages import MESSAGE
from press.versions.record import BEHAVIOUR, FOLLOWS, WARNING, WORDING

ERROR = "error"
# nbval does not compare these kinds of output.
_NOT_COMPARED = ("image/png", "image/jpeg", "application/vnd.jupyter.widget-view+json")
_EXPECTED = re.compile(
    r"AssertionError: expected (?P<kinds>\w+(?: or \w+)*) with .* in its message, got (?P<got>.*)", re.DOTALL
)
# The library's own warning about an untested torch.
_OWN_WARNING = re.compile(r"^fxbook was tested with .*\n", re.MULTILINE)
_LONGEST = 300
# Details of a machine and a run that nbval's sanitizer does not know: package paths, process ids, times, and the number
# of programs that torch.fx has compiled.
_HERE = (
    (re.compile(r"^[VIWEC]\d{4} [\d:.]+ \d+ ", re.MULTILINE), ""),
    (re.compile(r"[^\s'\"(]*/site-packages/"), "…/site-packages/"),
    (re.compile(r"(?:/t|\bt)?mp/ipykernel_\d+/\d+\.py"), "<cell>"),
    (re.compile(r"/tmp/tmp\w+/"), "…/"),
    (re.compile(r"<eval_with_key>\.\d+"), "<eval_with_key>.…"),
)


@dataclasses.dataclass(frozen=True)
class Shown:
    """What a cell shows: the texts of each kind (``"stdout"``, ``"text/html"``, ``"error"``), in order."""

    texts: dict[str, tuple[str, ...]]

    @property
    def error(self) -> str:
        """``"TypeError: …"`` if the cell raises, else ``""``."""
        return self.texts.get(ERROR, ("",))[0]

    def lines(self) -> list[str]:
        shown = {carrier: texts for carrier, texts in self.texts.items() if carrier != "text/html"} or self.texts
        return [line for texts in shown.values() for text in texts for line in text.splitlines()]


def shown(outputs: Iterable[NotebookNode]) -> Shown:
    texts: dict[str, list[str]] = {}
    streams: dict[str, str] = {}
    for output in outputs:
        if output.output_type == "stream":
            streams[output.name] = streams.get(output.name, "") + output.text
        elif output.output_type == "error":
            texts.setdefault(ERROR, []).append(f"{output.ename}: {output.evalue}")
        else:
            for carrier, text in output.data.items():
                if carrier not in _NOT_COMPARED:
                    texts.setdefault(carrier, []).append(text if isinstance(text, str) else repr(text))
    streams = {name: _OWN_WARNING.sub("", text) if name == "stderr" else text for name, text in streams.items()}
    found = {**{name: [text] for name, text in streams.items() if text}, **texts}
    return Shown({name: tuple(map(_stable, kept)) for name, kept in found.items()})


def differ(printed: Shown, here: Shown, ignored: bool = False) -> bool:
    """Whether nbval would reject the output; ``ignored`` says that it differs from run to run."""
    return bool(here.error) if ignored else printed != here


def kind(printed: Shown, here: Shown, lost: Iterable[str] = ()) -> str:
    """The kind of a difference, decided by rules; ``lost`` are names that are missing since an earlier cell failed."""
    if here.error:
        missing = re.match(r"NameError: name '(\w+)' is not defined", here.error)
        if missing and missing[1] in set(lost):
            return FOLLOWS
        expected = _EXPECTED.match(here.error)
        same = expected and expected["got"].partition(":")[0] in expected["kinds"].split(" or ")
        return WORDING if same else BEHAVIOUR
    rest = {carrier: texts for carrier, texts in here.texts.items() if carrier != "stderr"}
    if rest == {carrier: texts for carrier, texts in printed.texts.items() if carrier != "stderr"}:
        return WARNING
    changed = [one[2:] for one in difflib.ndiff(printed.lines(), here.lines()) if one[:2] in ("- ", "+ ")]
    words = [bool(MESSAGE.match(line)) for line in changed if line.strip()]
    return WORDING if words and all(words) and _classes(printed) == _classes(here) else BEHAVIOUR


def _classes(one: Shown) -> list[str]:
    return [match["kind"] for line in messages(one) if (match := MESSAGE.match(line))]


def first_difference(printed: Shown, here: Shown) -> tuple[str, str]:
    """The book's first line that is not shown here, and the first line that is shown here in its place."""
    if here.error:
        expected = _EXPECTED.match(here.error)
        error = expected["got"] if expected else here.error
        return _short(next(iter(printed.lines()), "")), _short(error)
    gone, new = "", ""
    for line in difflib.ndiff(printed.lines(), here.lines()):
        gone = gone or (line[2:] if line.startswith("- ") and line[2:].strip() else "")
        new = new or (line[2:] if line.startswith("+ ") and line[2:].strip() else "")
    if not gone and not new:
        gone, new = (", ".join(sorted(one.texts)) for one in (printed, here))
    return _short(gone), _short(new)


def messages(one: Shown) -> list[str]:
    """The error messages that a cell shows, one per line; if it expected another error, the one that it got."""
    written = [text for carrier in ("stdout", "text/plain") for text in one.texts.get(carrier, ())]
    if expected := _EXPECTED.match(one.error):
        written.append(expected["got"])
    lines = [line for text in written for line in text.splitlines()]
    return [line[:_LONGEST] for line in lines if MESSAGE.match(line)]


def _short(line: str) -> str:
    return " ".join(line.split())[:_LONGEST]


@functools.cache
def _rules() -> tuple[tuple[re.Pattern[str], str], ...]:
    parser = configparser.ConfigParser(interpolation=None)
    parser.read(ROOT / "tests" / "nbval_sanitize.cfg", encoding="utf-8")
    return tuple((re.compile(parser[name]["regex"]), parser[name]["replace"]) for name in parser.sections())


def _stable(text: str) -> str:
    for pattern, replacement in (*_rules(), *_HERE):
        text = pattern.sub(replacement, text)
    return text
