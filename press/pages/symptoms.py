"""The symptom index: every error message and every silent fault of the chapters, collected from their notebooks.

An entry of *When it breaks*, in a chapter or on its companion, is a heading, the cells under it, and a paragraph that
begins with ``*Cause*:``. Its message is the output of its cells, so the index lists only messages that the book prints.
"""

from __future__ import annotations

import collections
import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from nbformat import NotebookNode

from press.book import COMPANIONS, Book
from press.manuscript.reading import anchor
from press.printing.transforms import GROUPS
from press.versions import record
from press.versions.facts import RecordedFact
from press.versions.messages import MESSAGE, form

BREAKS = "When it breaks"
_HEADING = re.compile(r"^(#{2,4}) +(.+?) *$")
# The error class in a heading that is a message, left out where the index already shows it as a heading.
_KIND = re.compile(r"^\w+(Error|Exception|Warning|Failed): (?=.)")
# A heading that begins with the class of an error, whatever the class is called: "FlakyFailure: …".
_CLASS = re.compile(r"(?!Silent)[A-Z]\w+: ")
_LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")
# The link from an entry to its fix.
_FIX = re.compile(r" Fix: \[\d\d · (?P<heading>.+)\]\((?P<place>[^()]+)\)$")
_LONGEST = 300
# How much of a message or heading the page shows.
_LONGEST_SHOWN = 120
_LONGEST_LINK = 50
_INTRODUCTION = """\
# Symptom index

Every error message that a cell of a chapter shows, as torch {torch} and Python print it, and every mistake that raises
no error. Open the class of your error. Each entry gives the cause in one line and links to the section that fixes it,
or says only where the message is shown.
A common message can have other causes too: compare your code with the section.
Names such as `relu` or `mix` come from the models in the chapters, but your message has your own names.

{entries} entries, from {chapters} chapters and their pages *{breaks}*. A message that other sections show is listed at
the end, with the section that shows it. Where another version of torch words a message differently, that message
is listed as well.
"""


@dataclasses.dataclass
class Symptom:
    """One entry: its place, the messages that its cells print (may be empty), the first sentence of its cause.

    ``chapter`` names the page, ``"03_replacement"`` or ``"when_it_breaks/03_replacement"``. ``shown`` is false for a
    heading without cells, which is the heading of a group. ``later`` has the messages below the cause that need not
    have this cause; ``begins_with_cell`` says whether a cell above the cause shows the fault.
    """

    chapter: str
    heading: str
    messages: list[str]
    cause: str = ""
    shown: bool = False
    later: list[str] = dataclasses.field(default_factory=list)
    begins_with_cell: bool = False
    front_ends: bool = False

    @property
    def silent(self) -> bool:
        if self.heading.startswith("Silent"):
            return True
        loud = self.messages or self.is_message or (self.later and re.search(r"Error: ", self.heading))
        return not loud and (self.begins_with_cell or not self.later)

    @property
    def is_message(self) -> bool:
        return bool(MESSAGE.match(self.heading) or _CLASS.match(self.heading))

    def has_kind(self, message: str) -> bool:
        """Whether a message below the cause is of a class that the entry is about, and not about another front end."""
        kinds = {one.partition(":")[0] for one in (*self.messages, self.heading)}
        return not self.front_ends and message.partition(":")[0] in kinds

    @property
    def searched(self) -> list[str]:
        """What readers search for: the messages that the cells print, or else the heading, which is then a message."""
        heading = re.sub(r"\\(?=[^\w\s]|_)", "", self.heading)
        return self.messages or ([heading] if self.is_message or not self.later else [])

    @property
    def link(self) -> str:
        """The link from ``chapters/reference/``."""
        number = self.chapter.rpartition("/")[2][:2]
        heading = _plain(self.heading) if self.heading.startswith("Silent") else _KIND.sub("", self.heading)
        return f"[{number} · {_shortened(heading)}](../{self.place})"

    @property
    def place(self) -> str:
        """The path from ``chapters/``."""
        return f"{self.chapter}.ipynb#{anchor(self.heading)}"

    @property
    def explanation(self) -> str:
        return f"{self.cause}. Fix: {self.link}"


def symptoms(chapter: str, notebook: NotebookNode) -> tuple[list[Symptom], list[Symptom]]:
    entries: list[Symptom] = []
    others: list[Symptom] = []
    current: Symptom | None = None
    is_companion = chapter.startswith(f"{COMPANIONS}/")
    in_breaks = explained = False
    wrapper = ""  # "BackendCompilerFailed: … raised:", which says nothing without the next line
    for kind, text in _lines(notebook):
        if kind == "heading":
            level, heading = text.split(" ", 1)
            if level == "##":
                in_breaks = heading in GROUPS if is_companion else heading == BREAKS
            current = Symptom(chapter, heading, [])
            explained = False
            (entries if in_breaks and level != "##" else others).append(current)
        elif current is not None and kind == "code":
            current.shown = True
            current.begins_with_cell = current.begins_with_cell or not explained
        elif current is not None and kind == "output":
            if text.endswith(" raised:") and MESSAGE.match(text):
                wrapper = text
                continue
            for message in (*_messages_in(f"{wrapper} {text}" if wrapper else ""), *_messages_in(text)):
                own = not explained or current.has_kind(message)
                place = current.messages if own else current.later
                place += [message] if message not in (*current.messages, *current.later) else []
            wrapper = ""
        elif current is not None and kind == "prose" and not text.startswith(("#", "|", "<")):
            # The first paragraph, unless one is marked as the cause.
            marked = text.startswith("*Cause*:")
            explained = explained or marked
            current.front_ends = current.front_ends or text.startswith("*Front ends*:")
            current.cause = (
                _first_sentence(text.removeprefix("*Cause*:")) if marked or not current.cause else current.cause
            )
    return [one for one in entries if one.shown], others


def _messages_in(line: str) -> Iterator[str]:
    """The message in a line of output, once for each error class that it names."""
    if match := MESSAGE.match(line):
        for kind in (match["kind"], *match["others"].split(" or ")[1:]):
            yield f"{kind.rpartition('.')[2]}: {match['text']}"[:_LONGEST]


def of_every_chapter(book: Book) -> Iterator[tuple[list[Symptom], list[Symptom]]]:
    for name, source in {**book.chapters, **book.companions}.items():
        if notebook := book.stored(book.targets(source)[0]):
            yield symptoms(name, notebook)


def _of_versions(change: RecordedFact) -> str:
    versions = " and ".join(reversed(change.changed))
    return f"See [what changed in torch {versions}](versions.md#{anchor(change.fact.title)})."


def page_text(book: Book) -> str:
    found = list(of_every_chapter(book))
    entries = [one for listed, _ in found for one in listed]
    own = {message for one in entries for message in one.messages}
    later = [one for one in entries if not one.heading.startswith("Silent")]
    known = own.union(*(one.later for one in later))
    others = [one for _, listed in found for one in listed]
    elsewhere = [one for one in others if not known.issuperset(one.messages)]
    rows = [(as_code(message), one.explanation) for one in entries if not one.silent for message in one.searched]
    rows += [(as_code(message), f"Shown in {one.link}") for one in later for message in one.later if message not in own]
    fixes = {one.place: f"Shown in {one.link}" for one in others}
    fixes.update({one.place: one.explanation for one in entries})
    rows += _on_other_versions(fixes, book, known)
    loud = sorted(rows, key=lambda row: row[0].strip("` ").lower())
    silent = [(f"**{_plain(one.heading)}.**", one.explanation) for one in entries if one.silent]
    listed: dict[str, str] = {}
    for one in elsewhere:
        for message in one.messages:
            if message not in known:
                listed.setdefault(as_code(message), f"Shown in {one.link}")
    kinds: dict[str, list[tuple[str, str]]] = collections.defaultdict(list)
    for row in loud:
        kinds[row[0].strip("` ").partition(":")[0]].append(row)
    parts = [_fold(kind, "message", rows) for kind, rows in kinds.items()]
    parts.append(_fold("No message at all", "silent mistake", silent))
    parts.append(_fold("Shown elsewhere", "message", listed.items()))
    text = "\n\n".join(parts) + "\n"
    introduction = _INTRODUCTION.format(
        torch=book.pins.get("torch", ""), entries=text.count("\n- "), chapters=len(book.chapters), breaks=BREAKS
    )
    return f"{introduction}\n{text}"


def _fold(heading: str, kind: str, rows: Iterable[tuple[str, str]]) -> str:
    """An error class: a heading, and a fold with its messages; those with the same cause and fix share an entry."""
    entries: dict[str, list[str]] = collections.defaultdict(list)
    for message, explanation in dict.fromkeys(rows):
        entries[explanation].append(message)
    count = sum(map(len, entries.values()))
    lines = ["- " + "\\\n  ".join(_linked(messages, text)) for text, messages in entries.items()]
    summary = f"<summary>{count} {kind}{'' if count == 1 else 's'}</summary>"
    return "\n\n".join([f"## {heading}", f'<details class="fx-symptoms">\n{summary}', *lines, "</details>"])


def _linked(messages: list[str], explanation: str) -> list[str]:
    """The lines of an entry. A message that is the heading of the section with the fix links to that section."""
    if fix := _FIX.search(explanation):
        heading = re.sub(r"[`\\]", "", fix["heading"]).removesuffix(" …")
        for at, message in enumerate(messages):
            if _KIND.sub("", message.strip("`* ")).replace("`", "").startswith(heading):
                linked = f"[{message}]({fix['place']})"
                return [*messages[:at], linked, *messages[at + 1 :], explanation.removesuffix(fix[0])]
    return [*messages, explanation]


def _on_other_versions(fixes: Mapping[str, str], book: Book, known: set[str]) -> Iterator[tuple[str, str]]:
    """The messages from other versions of torch, each with its versions and its explanation.

    ``fixes`` are the texts about the sections, by place; ``known`` are the messages that the book prints.
    """
    explanations: dict[str, str] = {}
    versions: dict[str, set[str]] = collections.defaultdict(set)
    explained = {name: one.says for name, one in book.remarks.items()}
    explained |= {name: _of_versions(change) for name, change in book.changes.items()}
    for one in book.record.messages:
        page = one.at.partition("#")[0]
        shown = f"Shown in [{Path(page).stem}](../{page})." if page else ""
        explanations[one.text] = " ".join(filter(None, [fixes.get(one.at, shown), explained.get(one.fact)]))
        versions[one.text].update(one.torch)
    for name in book.changes:
        for version, line in book.record.facts[name].items():
            if MESSAGE.match(line):
                explanations.setdefault(line, explained[name])
                versions[line].add(version)
    forms = {form(message) for message in known}
    for message, fix in explanations.items():
        if fix and form(message) not in forms:
            forms.add(form(message))
            yield f"{as_code(message)} (torch {record.spans(versions[message], book.record.versions)})", fix


def _lines(notebook: NotebookNode) -> Iterator[tuple[str, str]]:
    """The headings (``"### Text"``), paragraphs, cell ids and output lines of a notebook, in order."""
    for cell in notebook.cells:
        if cell.cell_type == "code":
            yield "code", cell.get("id", "")
            for output in cell.outputs:
                for line in output.get("text", "").splitlines():
                    yield "output", line
            continue
        for paragraph in re.split(r"\n\s*\n", cell.source):
            for line in paragraph.splitlines():
                if match := _HEADING.match(line):
                    yield "heading", f"{match[1]} {match[2]}"
            yield "prose", " ".join(paragraph.split())


def _first_sentence(text: str) -> str:
    """The first sentence before the fix, with links as their text."""
    text = _LINK.sub(r"\1", re.split(r"\*(?:Fix|Cure)\*", text)[0]).strip()
    match = re.match(r"(.+?(?<!\be\.g)(?<!\bi\.e)[.:])(?= [A-Z`(*]|$)", text)
    first = (match[1] if match else text).rstrip(":. ")
    return first[:1].upper() + first[1:]


def _plain(heading: str) -> str:
    text = re.sub(r"^Silent: *", "", heading)
    # A name keeps its spelling.
    return text if re.match(r"\w*[_(]", text) else text[:1].upper() + text[1:]


def _shortened(heading: str) -> str:
    """A heading shortened to one line: cut between words, with no code span left open."""
    if len(heading) <= _LONGEST_LINK:
        return heading
    return heading.replace("`", "")[:_LONGEST_LINK].rpartition(" ")[0].rstrip(" ,:;([\\<*") + " …"


def as_code(text: str) -> str:
    """A message as the index shows it: as a code span, and shortened if it is long."""
    if len(text) > _LONGEST_SHOWN:
        text = text[:_LONGEST_SHOWN].rpartition(" ")[0] + " …"
    fence = "``" if "`" in text else "`"
    space = " " if "`" in text else ""
    return f"{fence}{space}{text}{space}{fence}"
