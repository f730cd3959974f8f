"""Write the observing half of the library, all that may go where submissions run: no predicate, no expected result.

The judging half stays outside, and so does every word on what a case is. Of a chapter's exercises the half has how an
answer is used (``id``, ``use``, ``cases``, ``given``, ``returns``, ``call``) and the definitions that these need; of
the rest of ``fxbook``, what a cell may import.
"""

from __future__ import annotations

import ast
import functools
import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path

import fxbook
from classroom.sandbox.bubble import SandboxError
from classroom.sandbox.slicing import Slices

_SOURCE = Path(fxbook.__file__).parent
_CHECKS = "fxbook.checks"
# What runs an answer, and what the first cell of a sheet may import.
_STARTS = ("sheets", "exercises", "errors", "checking.observe", "drawing", "plotting", "stepping.edit", "stepping.run")
_OBSERVED = {"id", "use", "cases", "given", "returns", "call"}
# What a teacher's file of hidden variants may import.
_FOR_CASES = ("Case", "eager", "nothing", "traced", "find", "all_exercises")
# In place of the package that judges.
_UNCHECKED = Path(__file__).parent / "inside" / "unchecked.py"


@functools.cache
def files() -> Mapping[str, str]:
    """The half as text by path: the package ``fxbook``."""
    found = {}
    for name, source in _library().items():
        found[str(_path(Path("fxbook"), name, is_package=_place(name).is_dir()))] = source
    for path in (*_SOURCE.glob("*.json"), *_SOURCE.glob("static/*")):
        found[str(Path("fxbook") / path.relative_to(_SOURCE))] = path.read_text(encoding="utf-8")
    return found


def _library() -> dict[str, str]:
    """The text of each module of the half, by dotted name."""
    whole: dict[str, ast.Module] = {}
    waiting = ["fxbook", *(f"fxbook.{start}" for start in _STARTS)]
    while waiting:
        name = waiting.pop()
        if name not in whole and not name.startswith(_CHECKS):
            whole[name] = _parsed(name)
            waiting += [module for module, _ in _imports(whole[name])]
            waiting += [parent for parent in [name.rpartition(".")[0]] if parent]
    sources = {name: _read(name) for name in whole}
    sources["fxbook.checking"] = _UNCHECKED.read_text(encoding="utf-8")
    return {**sources, **_checks(whole)}


def _checks(whole: dict[str, ast.Module]) -> dict[str, str]:
    """The slices of ``fxbook.checks``."""
    names = [_CHECKS, *(f"{_CHECKS}.{path.stem}" for path in sorted((_SOURCE / "checks").glob("[!_]*.py")))]
    trees = {name: _parsed(name) for name in names}
    chapters = [name for name in names if name.startswith(f"{_CHECKS}.chapter_")]
    for name in chapters:
        _only_observed(trees[name])
    for tree in trees.values():
        _say_nothing(tree)
    slices = Slices(trees)
    slices.keep([(name, "EXERCISES") for name in chapters])
    slices.keep([(_CHECKS, name) for name in _FOR_CASES])
    for tree in whole.values():
        slices.keep([(module, name) for module, name in _imports(tree) if module in trees and name])
    for name in names:
        if "models_" in name or "edits_" in name:
            slices.keep_all(name, lambda statement: isinstance(statement, ast.ClassDef | ast.FunctionDef))
    return slices.sources()


def _only_observed(tree: ast.Module) -> None:
    """Take from each ``Exercise(…)`` what only the judging half reads."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Exercise":
            node.keywords = [keyword for keyword in node.keywords if keyword.arg in _OBSERVED]
            node.keywords.append(ast.keyword("properties", ast.Tuple([], ast.Load())))


def _say_nothing(tree: ast.Module) -> None:
    """Take away what tells people what a case is: docstrings, and the names of cases."""
    numbers, makers = itertools.count(1), {"Case", "Situation", *_makers(tree)}
    for node in ast.walk(tree):
        match node:
            case ast.Module() | ast.ClassDef() | ast.FunctionDef() if ast.get_docstring(node) is not None:
                node.body = node.body[1:] or [ast.Pass()]
            case ast.Call(func=ast.Name(id=called), args=[ast.Constant(value=str()), *others]) if called in makers:
                node.args = [ast.Constant(f"case {next(numbers)}"), *others]


def _makers(tree: ast.Module) -> Iterator[str]:
    """The functions that make a case and take its name first."""
    for function in tree.body:
        if isinstance(function, ast.FunctionDef) and function.args.args:
            first = function.args.args[0].arg
            for node in ast.walk(function):
                match node:
                    case ast.Call(func=ast.Name(id="Case"), args=[name, *_]) if first in _names_in(name):
                        yield function.name


def _names_in(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """What a module imports of this library wherever it does so, but for types alone: ``(module, name)``."""
    typing_only = {id(inner) for node in tree.body if _is_typing_only(node) for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if id(node) in typing_only:
            continue
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "fxbook":
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield (inner, "") if _is_module(inner) else (str(node.module), alias.name)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names if alias.name.split(".")[0] == "fxbook")


def _is_typing_only(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def _is_module(name: str) -> bool:
    return _place(name).is_dir() or _place(name).with_suffix(".py").is_file()


def _place(name: str) -> Path:
    """Where a module lies, but for its suffix."""
    return _SOURCE.joinpath(*name.split(".")[1:])


def _path(folder: Path, name: str, is_package: bool) -> Path:
    place = folder.joinpath(*name.split(".")[1:])
    return place / "__init__.py" if is_package else place.with_suffix(".py")


def _read(name: str) -> str:
    return _path(_SOURCE, name, _place(name).is_dir()).read_text(encoding="utf-8")


def _parsed(name: str) -> ast.Module:
    # `fxbook.checking` judges: another module stands for it.
    return ast.parse("" if name == "fxbook.checking" else _read(name))


@functools.lru_cache(256)
def hidden_for(text: str, exercise_id: str) -> str:
    """Of a teacher's file of hidden variants, what the cases of one exercise need.

    Raises:
        SandboxError: the file is not Python, or has no ``CASES``.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError) as error:
        raise SandboxError(f"The file of hidden variants is not Python: {error}.") from error
    for statement in tree.body:
        if isinstance(statement, ast.Assign | ast.AnnAssign) and isinstance(statement.value, ast.Dict):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            if [ast.unparse(target) for target in targets] == ["CASES"]:
                _only_of(statement.value, exercise_id)
    slices = Slices({"hidden": tree})
    try:
        slices.keep([("hidden", "CASES")])
    except KeyError:
        raise SandboxError(f'The file of hidden variants has no CASES = {{"{exercise_id}": (Case(…), …)}}.') from None
    return slices.sources()["hidden"]


def _only_of(cases: ast.Dict, exercise_id: str) -> None:
    """Leave in a dict the entry of one exercise, and what unpacks or computes its keys."""
    kept = [
        (key, value)
        for key, value in zip(cases.keys, cases.values, strict=True)
        if not (isinstance(key, ast.Constant) and key.value != exercise_id)
    ]
    cases.keys, cases.values = [key for key, _ in kept], [value for _, value in kept]
