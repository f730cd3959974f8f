"""The part of the library that may enter the room for submissions: no rules and no expected results.

Files are chosen by name. From an exercise, only ``cases.py`` is included, which defines how an answer is used and on
what models and inputs; the descriptions of its cases are removed.
"""

from __future__ import annotations

import ast
import functools
import itertools
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import fxbook
from classroom.sandbox.bubble import SandboxError
from fxbook.grading import SHEETS, Sheet

_SOURCE = Path(fxbook.__file__).parent
_CASES, _CASES_NAME = "cases.py", "CASES"
# Packages without anything that judges: what cells may import, and what uses an answer and records an observation. From
# packages with solutions, only the modules that answers import.
_WHOLE = ("cases", "drawing", "graph", "learning", "observing", "passes/**", "plotting", "static", "stepping/**")
_IN_PART = {
    "": "__init__ catalogue errors exporting extras grading models showing torch_here",
    "surgery": "__init__ calls effects rounding stored",
}
OBSERVING = (
    *("*.json", "tasks/__init__.py", f"tasks/{SHEETS}/__init__.py", f"tasks/{SHEETS}/**/{_CASES}"),
    *(f"{package}/*.*" for package in _WHOLE),
    *(f"{package}/{name}.py".lstrip("/") for package, names in _IN_PART.items() for name in names.split()),
)
# Replaces the package that judges.
_UNCHECKED = Path(__file__).parent / "inside" / "unchecked.py"


@functools.cache
def files() -> Mapping[str, str]:
    half = texts(_SOURCE, OBSERVING)
    half["fxbook/checking/__init__.py"] = _UNCHECKED.read_text(encoding="utf-8")
    return {name: strip_descriptions(text) if name.endswith(_CASES) else text for name, text in half.items()}


def texts(folder: Path, patterns: Iterable[str]) -> dict[str, str]:
    """The files of a package that match a pattern, as text by path, with the package's folder."""
    paths = {path for pattern in patterns for path in folder.glob(pattern) if path.is_file()}
    paths = {path for path in paths if "__pycache__" not in path.parts}
    return {path.relative_to(folder.parent).as_posix(): path.read_text(encoding="utf-8") for path in sorted(paths)}


def strip_descriptions(source: str) -> str:
    """Remove docstrings, comments and case names, which describe the cases."""
    tree = ast.parse(source)
    numbers, makers = itertools.count(1), {"Case", "Situation", *_makers(tree)}
    for node in ast.walk(tree):
        match node:
            case ast.Module() | ast.ClassDef() | ast.FunctionDef() if ast.get_docstring(node) is not None:
                node.body = node.body[1:] or [ast.Pass()]
            case ast.Call(func=ast.Name(id=called), args=[ast.Constant(value=str()) | ast.JoinedStr(), *others]) if (
                called in makers
            ):
                node.args = [ast.Constant(f"case {next(numbers)}"), *others]
    return ast.unparse(tree)


def _makers(tree: ast.Module) -> Iterator[str]:
    """The functions that make a case and take the name of the case as their first argument."""
    for function in tree.body:
        if isinstance(function, ast.FunctionDef) and function.args.args:
            first = function.args.args[0].arg
            for node in ast.walk(function):
                match node:
                    case ast.Call(func=ast.Name(id="Case"), args=[name, *_]) if first in _names_in(name):
                        yield function.name


def _names_in(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


@functools.lru_cache(256)
def hidden_for(text: str, exercise_id: str) -> str:
    """The part of a teacher's file of hidden variants that one exercise needs.

    Raises:
        SandboxError: the file is not Python, or has no ``CASES``.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError) as error:
        raise SandboxError(f"The file of hidden variants is not Python: {error}.") from error
    gives = [statement for statement in tree.body if _adds_cases(statement, exercise_id)]
    others = [statement for statement in tree.body if not _names_cases(statement)]
    cells = [*map(ast.unparse, others), "\n".join(map(ast.unparse, gives))]
    needed = Sheet(Path("hidden.py"), tuple(cells)).only_for(_CASES_NAME).cells
    if not any(needed):
        raise SandboxError(f'The file of hidden variants has no CASES = {{"{exercise_id}": (Case(…), …)}}.')
    return "\n".join(filter(None, needed))


def _names_cases(statement: ast.stmt) -> bool:
    return _CASES_NAME in _names_in(statement)


def _adds_cases(statement: ast.stmt, exercise_id: str) -> bool:
    """Whether a statement defines or extends ``CASES`` for this exercise; removes other entries from a dict."""
    if not _names_cases(statement):
        return False
    match statement:
        case (
            ast.Assign(targets=[ast.Subscript(slice=ast.Constant(value=key))])
            | ast.AugAssign(target=ast.Subscript(slice=ast.Constant(value=key)))
        ):
            return key == exercise_id
        case ast.Assign(value=ast.Dict() as entries) | ast.AnnAssign(value=ast.Dict() as entries):
            _only_of(entries, exercise_id)
    return True


def _only_of(cases: ast.Dict, exercise_id: str) -> None:
    """Keep only the entry of one exercise, and unpacked or computed keys."""
    entries = [
        (key, value)
        for key, value in zip(cases.keys, cases.values, strict=True)
        if not (isinstance(key, ast.Constant) and key.value != exercise_id)
    ]
    cases.keys, cases.values = [key for key, _ in entries], [value for _, value in entries]
