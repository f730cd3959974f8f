"""Write the one-page handout of an assignment: the task, its points, and how to check and hand in answers."""

from __future__ import annotations

import html

from classroom.assignment import Assignment
from fxbook.grading import About

_LONGEST_TITLE = 120
# This many rows fill half a page. More go into two columns without ids, and even more into smaller print.
_ONE_COLUMN = 14
_NORMAL_PRINT = 24
_STYLE = """
@page { size: A4; margin: 13mm 15mm }
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 180mm; font: 10pt/1.38 system-ui, sans-serif; color: #000; background: #fff }
h1 { font-size: 17pt; line-height: 1.15; margin: 0 0 2mm; overflow-wrap: anywhere }
h2 { font-size: 11pt; margin: 3mm 0 1mm }
p, ol { margin: 1mm 0 } ol { padding-left: 5mm }
code { font: .92em ui-monospace, monospace }
.fill { display: flex; gap: 8mm } .fill span { flex: 1; border-bottom: 1px solid #000; padding: 3mm 0 .5mm }
.tables { display: flex; gap: 6mm; align-items: flex-start }
table { border-collapse: collapse; flex: 1; width: 100% }
th, td { text-align: left; vertical-align: top; padding: .5mm 1mm; border-bottom: 1px solid #999 }
td.n, th.n { text-align: right; white-space: nowrap } td.dots { white-space: nowrap }
.small { font-size: 8.5pt } .small table { font-size: 7pt; line-height: 1.2 }
.small th, .small td { padding: .2mm .6mm }
.long h1 { font-size: 12pt }
@media screen { body { padding: 13mm 15mm; max-width: 210mm } }
"""


def as_html(assignment: Assignment) -> str:
    """The handout as a self-contained page that fits on one sheet of A4."""
    title = html.escape(_title(assignment))
    parts = [f"<h1>{title}</h1>"]
    for heading, lines in _sections(assignment):
        parts.append(f"<h2>{html.escape(heading)}</h2>")
        if heading == _EXERCISES:
            parts.append(_tables(assignment))
        numbered = heading == _STEPS
        items = "".join(f"<{'li' if numbered else 'p'}>{_code(line)}</{'li' if numbered else 'p'}>" for line in lines)
        parts.append(f"<ol>{items}</ol>" if numbered else items)
    due = html.escape(_due(assignment))
    parts.append(f'<p class="fill"><span>Hand in by: {due}</span><span>Where:</span></p>')
    kind = ("small " if len(assignment.exercises) > _NORMAL_PRINT else "") + ("long" if len(title) > 60 else "")
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>\n'
        f'<style>{_STYLE}</style>\n</head>\n<body class="{kind.strip()}">\n' + "\n".join(parts) + "\n</body>\n</html>\n"
    )


def as_markdown(assignment: Assignment) -> str:
    """The handout as Markdown, to paste into a course page or edit."""
    parts = [f"# {_title(assignment)}"]
    for heading, lines in _sections(assignment):
        parts.append(f"## {heading}")
        if heading == _EXERCISES:
            rows = [f"| {' | '.join(_cells(about, assignment))} |" for about in assignment.exercises]
            parts.append("\n".join([f"| {' | '.join(_COLUMNS)} |", "|---|---|---:|---:|", *rows]))
        numbered = heading == _STEPS
        parts.append("\n".join(f"{i}. {line}" if numbered else line for i, line in enumerate(lines, start=1)))
    return "\n\n".join([*parts, f"Hand in by: {_due(assignment) or '____________'}  Where: ____________"]) + "\n"


_STEPS, _EXERCISES = "What to do", "The exercises"
_COLUMNS, _NARROW = ("Exercise", "Difficulty", "Minutes", "Points"), ("Exercise", "Level", "Min", "Pts")


_COUNTS = {
    "last begun": "the last version in which you have begun an exercise counts for it",
    "best": "the best version of each exercise counts",
    "last": "the last version counts",
}


def _due(assignment: Assignment) -> str:
    due = assignment.deadline.due
    return f"{due.day} {due:%B %Y, %H:%M}" if due else ""


def _title(assignment: Assignment) -> str:
    title = " ".join(assignment.title.split()) or "Exercises"
    return title if len(title) <= _LONGEST_TITLE else title[: _LONGEST_TITLE - 1].rstrip() + "…"


def _sections(assignment: Assignment) -> list[tuple[str, list[str]]]:
    """The headings with their sentences; each sentence of the steps is one step."""
    notebooks = ", ".join(f"`exercises/{chapter}.ipynb`" for chapter in assignment.chapters)
    if len(assignment.chapters) > 2:
        notebooks = f"the {len(assignment.chapters)} notebooks in `exercises/`"
    minutes = sum(about.minutes for about in assignment.exercises)
    total = sum(assignment.points[about.id] for about in assignment.exercises)
    return [
        (
            _STEPS,
            [
                "Set up once, in this folder: `python -m pip install -r requirements.txt` (Python 3.11 or newer; "
                "`README.md` says more).",
                f"Open {notebooks} in JupyterLab or VS Code and run the first cells.",
                "Replace the body of each function. Keep its name, because the grader looks for it. You may add cells.",
            ],
        ),
        (_EXERCISES, [f"In all, about {minutes} minutes and {_number(total)} points. ●○○ is easy, ●●● is hard."]),
        (
            "How to check your answer",
            [
                "Run the cell with `check(…)` below it, as often as you like. It names the first mistake "
                "and where it is, or says `solved`. If you are stuck, `hint(…)` with the id of the "
                "exercise gives the first hint, and a second call gives the second.",
            ],
        ),
        ("How it is graded", [_graded(assignment), *filter(None, [assignment.deadline.rule.in_words()])]),
        (
            "How to hand in",
            [
                "Save, then hand in the notebooks under their own names and nothing else. If you hand in again, "
                f"{_COUNTS[assignment.counts]}. An exercise without an answer costs only its own points.",
                "Ask your teacher what help is allowed, and say what help you used.",
            ],
        ),
    ]


def _graded(assignment: Assignment) -> str:
    runs = "The grader runs the same checks with different random numbers. "
    if not assignment.hidden:
        return runs + "There are no hidden variants: an exercise that passes earns full points."
    share = f"{assignment.public_share * 100:.0f} %"
    return runs + (
        "The grade also uses hidden variants: the same properties on models that you have not seen. If the public "
        f"checks pass but a hidden variant fails, an exercise earns {share} of its points."
    )


def _cells(about: About, assignment: Assignment, with_id: bool = True) -> tuple[str, ...]:
    dots = "●" * about.difficulty + "○" * (3 - about.difficulty)
    title = f"{about.title} (`{about.id}`)" if with_id else f"{about.id[:2]} {about.title}"
    return title, dots, str(about.minutes), _number(assignment.points[about.id])


def _number(points: float) -> str:
    return f"{points:.2f}".rstrip("0").rstrip(".")


def _tables(assignment: Assignment) -> str:
    wide = len(assignment.exercises) <= _ONE_COLUMN
    rows = [_cells(about, assignment, with_id=wide) for about in assignment.exercises]
    half = len(rows) if wide else (len(rows) + 1) // 2
    tables = [_table(_COLUMNS if wide else _NARROW, part) for part in (rows[:half], rows[half:]) if part]
    return f'<div class="tables">{"".join(tables)}</div>'


def _table(columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    kinds = ("", ' class="dots"', ' class="n"', ' class="n"')
    head = "".join(f'<th scope="col"{kind}>{column}</th>' for kind, column in zip(kinds, columns, strict=True))
    body = ""
    for row in rows:
        cells = (f"<td{kind}>{_code(cell)}</td>" for kind, cell in zip(kinds, row, strict=True))
        body += f"<tr>{''.join(cells)}</tr>"
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _code(line: str) -> str:
    pieces = html.escape(line).split("`")
    return "".join(f"<code>{piece}</code>" if i % 2 else piece for i, piece in enumerate(pieces))
