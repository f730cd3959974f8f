"""Named mutations of a right answer: small mistakes, mostly the kind that learners make.

An operator takes a node of the syntax tree and yields replacements: an expression for an expression, a list of
statements for a statement (empty to drop it).
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from tests.mutation.patterns import Parts, filled, matched

Instead: TypeAlias = "Iterator[ast.AST | list[ast.stmt]]"
Operator: TypeAlias = "Callable[[Any], Instead]"

# ---- replacing expressions -------------------------------------------------------------------------------------------

# Attributes that are easily confused.
_FIELDS = (
    ("A.name", "A.target"),
    ("A.target", "A.name"),
    ("A.users", "A.all_input_nodes"),
    ("A.all_input_nodes", "A.users"),
    ("A.next", "A.prev"),
    ("A.prev", "A.next"),
    ("A.args", "A.all_input_nodes"),
)
_PLAIN = "[a for a in A.args if type(a).__name__ == 'Node']"

PATTERNS: dict[str, tuple[tuple[str, str], ...]] = {
    "isinstance for type, and back": (
        ("type(A) is B", "isinstance(A, B)"),
        ("type(A) == B", "isinstance(A, B)"),
        ("type(A) in B", "isinstance(A, B)"),
        ("isinstance(A, B)", "type(A) is B"),
        ("isinstance(A, B)", "type(A) in B"),
        ("issubclass(A, B)", "A is B"),
    ),
    "== for startswith or in, and back": (
        ("A.startswith(B)", "A == B"),
        ("A.startswith(B)", "B in A"),
        ("A.endswith(B)", "A == B"),
        ("A.endswith(B)", "B in A"),
        ("A.removeprefix(B)", "A.replace(B, '')"),
        ("A.removesuffix(B)", "A.replace(B, '')"),
    ),
    "== for is, and back": (
        ("A is B", "A == B"),
        ("A == B", "A is B"),
        ("A is not B", "A != B"),
        ("A != B", "A is not B"),
    ),
    "truth for a default": (
        ("A if A is not None else B", "A or B"),
        ("B if A is None else A", "A or B"),
        ("A is None", "not A"),
        ("A is not None", "A"),
        ("A.get(B, C)", "(A.get(B) or C)"),
        ("hasattr(A, B)", "getattr(A, B, None)"),
        ("B in A", "A.get(B)"),
        ("B not in A", "not A.get(B)"),
    ),
    "default dropped": (
        ("A.get(B, C)", "A.get(B)"),
        ("A.get(B, C)", "A[B]"),
        ("A.get(B)", "A[B]"),
        ("getattr(A, B, C)", "getattr(A, B)"),
        ("next(A, B)", "next(A)"),
        ("A.pop(B, C)", "A.pop(B)"),
    ),
    "last for first, and back": (
        ("A[0]", "A[-1]"),
        ("A[-1]", "A[0]"),
        ("next(iter(A))", "list(A)[-1]"),
        ("next(A)", "list(A)[-1]"),
        ("next(A, B)", "[B, *A][-1]"),
        ("min(A)", "max(A)"),
        ("max(A)", "min(A)"),
    ),
    "any for all, and back": (("any(A)", "all(A)"), ("all(A)", "any(A)")),
    "nesting not entered": (
        ("A.modules()", "A.children()"),
        ("A.named_modules()", "A.named_children()"),
        ("A.parameters()", "A.parameters(recurse=False)"),
        ("A.named_parameters()", "A.named_parameters(recurse=False)"),
        ("A.buffers()", "A.buffers(recurse=False)"),
        ("A.named_buffers()", "A.named_buffers(recurse=False)"),
        ("A.all_input_nodes", _PLAIN),
        ("A.get_submodule(B)", "getattr(A, B)"),
    ),
    "copy not made": (
        ("copy.deepcopy(A)", "A"),
        ("copy.deepcopy(A)", "copy.copy(A)"),
        ("copy.copy(A)", "A"),
        ("list(A)", "A"),
        ("dict(A)", "A"),
        ("tuple(A)", "A"),
        ("set(A)", "A"),
        ("[*A]", "A"),
        ("(*A,)", "A"),
        ("A.copy()", "A"),
        ("A.clone()", "A"),
        ("A.detach()", "A"),
        ("A.contiguous()", "A"),
    ),
    "before for after, and back": (
        ("A.inserting_before(B)", "A.inserting_after(B)"),
        ("A.inserting_after(B)", "A.inserting_before(B)"),
        ("A.prepend(B)", "A.append(B)"),
    ),
    "another field": _FIELDS,
    "off by one": (
        ("A < B", "A <= B"),
        ("A <= B", "A < B"),
        ("A > B", "A >= B"),
        ("A >= B", "A > B"),
        ("A[1:]", "A"),
        ("A[:-1]", "A"),
        ("range(A)", "range(A - 1)"),
        ("range(A)", "range(1, A)"),
        ("enumerate(A)", "enumerate(A, 1)"),
        ("len(A)", "len(A) - 1"),
    ),
    "negated": (
        ("A == B", "A != B"),
        ("A != B", "A == B"),
        ("A is B", "A is not B"),
        ("A is not B", "A is B"),
        ("A in B", "A not in B"),
        ("A not in B", "A in B"),
        ("A < B", "A >= B"),
        ("A > B", "A <= B"),
        ("not A", "A"),
    ),
    "another operation": (
        ("A + B", "A - B"),
        ("A - B", "A + B"),
        ("A * B", "A / B"),
        ("A / B", "A * B"),
        ("A // B", "A / B"),
        ("A % B", "A // B"),
        ("A | B", "A & B"),
        ("A & B", "A | B"),
        ("-A", "A"),
    ),
}


def _pattern(before: str, after: str) -> Operator:
    def operator(node: ast.AST) -> Instead:
        parts = matched(before, node)
        refused = _NOT_OF.get((before, after))
        if parts is not None and not (refused and refused(parts)):
            yield filled(after, parts)

    return operator


def _same_object(parts: Parts) -> bool:
    """Whether equal values are the same object: strings, numbers, and the functions and classes of a module."""
    known = (isinstance(part, ast.Constant) or _is_in_a_module(part) for part in parts.values())
    return any(known) or any(matched("type(A)", part) is not None for part in parts.values())


def _never_subclassed(parts: Parts) -> bool:
    return ast.unparse(parts["B"]) in ("str", "fx.Node", "Node", "fx.Graph", "bool")


def _collection(parts: Parts) -> bool:
    """Whether the value has no ``get``."""
    return isinstance(parts["A"], ast.Tuple | ast.List | ast.Set)


def _is_in_a_module(node: ast.AST) -> bool:
    match node:
        case ast.Attribute(value):
            return _is_in_a_module(value)
        case ast.Name(name):
            return name in ("torch", "nn", "fx", "operator", "functional", "F", "math", "aten")
    return False


# Mutations that change nothing, or that nobody would write.
_NOT_OF: dict[tuple[str, str], Callable[[Parts], bool]] = {
    **dict.fromkeys(PATTERNS["== for is, and back"], _same_object),
    **dict.fromkeys((("B in A", "A.get(B)"), ("B not in A", "not A.get(B)")), _collection),
    **dict.fromkeys((pair for pair in PATTERNS["isinstance for type, and back"] if "B" in pair[1]), _never_subclassed),
}
# In these comparisons, ``in`` acts like ``==``: no opcode is part of another.
_OPCODES = ("placeholder", "get_attr", "call_function", "call_method", "call_module", "output", "root")


def constant(node: ast.AST) -> Instead:
    match node:
        case ast.Constant(bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(int(value)):
            yield ast.Constant(value + 1)
            if value > 1:
                yield ast.Constant(value - 1)


def either(node: ast.AST) -> Instead:
    match node:
        case ast.BoolOp(ast.And(), values):
            yield ast.BoolOp(ast.Or(), values)
        case ast.BoolOp(ast.Or(), values):
            yield ast.BoolOp(ast.And(), values)


def string_compared(node: ast.AST) -> Instead:
    match node:
        case ast.Compare(left, [ast.Eq()], [ast.Constant(str(value)) as text]) if value not in _OPCODES:
            yield filled("A.startswith(B)", {"A": left, "B": text})
            yield filled("B in A", {"A": left, "B": text})


# ---- dropping parts --------------------------------------------------------------------------------------------------


def condition(node: ast.AST) -> Instead:
    match node:
        case ast.BoolOp(op, values):
            for index in range(len(values)):
                rest = values[:index] + values[index + 1 :]
                yield rest[0] if len(rest) == 1 else ast.BoolOp(op, rest)
        case ast.comprehension(target, iterated, ifs, is_async):
            for index in range(len(ifs)):
                yield ast.comprehension(target, iterated, ifs[:index] + ifs[index + 1 :], is_async)
        case ast.If(_, body, []):
            yield body
        case ast.match_case(pattern, guard, body) if guard is not None:
            yield ast.match_case(pattern, None, body)


def branch(node: ast.AST) -> Instead:
    match node:
        case ast.If(_, body, otherwise) if otherwise:
            yield body
            yield otherwise
        case ast.IfExp(_, body, otherwise):
            yield body
            yield otherwise
        case ast.Match(subject, cases):
            for index in range(len(cases)):
                rest = cases[:index] + cases[index + 1 :]
                if rest:
                    yield [ast.Match(subject, rest)]


def one_of_several(node: ast.AST) -> Instead:
    """Drop an element of a tuple, list or set."""
    match node:
        case ast.Tuple(elements, ast.Load()) | ast.List(elements, ast.Load()) | ast.Set(elements):
            if len(elements) > 1:
                for index in range(len(elements)):
                    rest = elements[:index] + elements[index + 1 :]
                    yield ast.Set(rest) if isinstance(node, ast.Set) else type(node)(rest, ast.Load())


def first_input_only(node: ast.AST) -> Instead:
    match node:
        case ast.Call(function, [ast.Starred(value)], keywords):
            yield ast.Call(function, [filled("A[0]", {"A": value})], keywords)
        case ast.comprehension(target, iterated, ifs, is_async):
            yield ast.comprehension(target, filled("[*A][:1]", {"A": iterated}), ifs, is_async)
            if isinstance(iterated, ast.Attribute) and iterated.attr == "nodes":
                return  # The last one is the output.
            yield ast.comprehension(target, filled("[*A][:-1]", {"A": iterated}), ifs, is_async)


def key(node: ast.AST) -> Instead:
    match node:
        case ast.Call(_, _, keywords):
            for index in range(len(keywords)):
                yield _called(node, keywords=keywords[:index] + keywords[index + 1 :])
        case ast.Dict(keys, values):
            for index in range(len(keys)):
                yield ast.Dict(keys[:index] + keys[index + 1 :], values[:index] + values[index + 1 :])
        case ast.Attribute(_, "kwargs", ast.Load()):
            yield ast.Dict([], [])


def argument(node: ast.AST) -> Instead:
    match node:
        case ast.Call(_, args) if len(args) > 1:
            for index in range(1, len(args)):
                yield _called(node, args=args[:index] + args[index + 1 :])


def arguments_swapped(node: ast.AST) -> Instead:
    match node:
        case ast.Call(ast.Name("isinstance" | "hasattr" | "getattr" | "setattr")):
            return
        case ast.Call(_, [first, second, *rest]) if not isinstance(second, ast.Starred):
            yield _called(node, args=[second, first, *rest])
        case ast.Tuple([first, second, *rest] as all_, ast.Load()) if not all(map(_in_any_order, all_)):
            yield ast.Tuple([second, first, *rest], ast.Load())


def _in_any_order(element: ast.expr) -> bool:
    """Whether the order is irrelevant, as in a collection of opcodes or functions, which is only searched."""
    match element:
        case ast.Constant(str()) | ast.Attribute(_, "args" | "kwargs"):
            return True
    return _is_in_a_module(element)


def _called(call: ast.Call, **changed: Any) -> ast.Call:
    return ast.Call(**{"func": call.func, "args": call.args, "keywords": call.keywords} | changed)


# ---- statements ------------------------------------------------------------------------------------------------------

# The name of the operator, by the function that the dropped statement calls.
_DROPPED = {
    "lint": "lint dropped",
    "recompile": "recompile dropped",
    "remove": "a mode or a hook left behind",
    "close": "a mode or a hook left behind",
    "erase_node": "clean-up dropped",
    "eliminate_dead_code": "clean-up dropped",
    "delete_all_unused_submodules": "clean-up dropped",
}


def dropped(node: ast.AST) -> str | None:
    """The name of the operator that drops this statement, or ``None``."""
    match node:
        case ast.Expr(ast.Constant()) | ast.Pass() | ast.Return(None):
            return None
        case ast.Expr(ast.Call(ast.Attribute(_, name))) if name in _DROPPED:
            return _DROPPED[name]
        case ast.Assign([ast.Name()]) | ast.AnnAssign(ast.Name()):
            return None
        case ast.Break() | ast.Continue():
            return "loop goes on"
        case ast.Return():
            return "nothing returned"
        case ast.Raise() | ast.Assert():
            return "raise dropped"
        case ast.Expr() | ast.Assign() | ast.AugAssign() | ast.Delete() | ast.If() | ast.For() | ast.While():
            return "statement dropped"
    return None


def _dropping(name: str) -> Operator:
    def operator(node: ast.AST) -> Instead:
        if dropped(node) == name:
            yield [ast.Return(None)] if isinstance(node, ast.Return) else []

    return operator


def override(node: ast.AST) -> Instead:
    """Drop a method, so that the inherited one is used."""
    if isinstance(node, ast.ClassDef):
        for method in node.body:
            if isinstance(method, ast.FunctionDef):
                changed = copy.copy(node)
                changed.body = [other for other in node.body if other is not method] or [ast.Pass()]
                yield [changed]


def one_round(node: ast.AST) -> Instead:
    """End a loop after the first round, or after the first match."""
    match node:
        case ast.For():
            yield [_looped(node, [*node.body, ast.Break()])]
            for index, statement in enumerate(node.body):
                match statement:
                    case ast.If(test, body, []) if not isinstance(body[-1], ast.Return | ast.Continue | ast.Break):
                        matching = ast.If(test, [*body, ast.Break()], [])
                        yield [_looped(node, [*node.body[:index], matching, *node.body[index + 1 :]])]
        case ast.While(test, body, []):
            yield [ast.If(test, body, [])]
        case ast.Continue():
            yield [ast.Break()]


def _looped(loop: ast.For, body: list[ast.stmt]) -> ast.For:
    return ast.For(loop.target, loop.iter, body, loop.orelse, None, lineno=0)


def narrower_except(node: ast.AST) -> Instead:
    match node:
        case ast.ExceptHandler(ast.Name("Exception" | "BaseException" as kind), name, body):
            narrower = ("Exception",) if kind == "BaseException" else ("RuntimeError", "ValueError", "TypeError")
            for each in narrower:
                yield ast.ExceptHandler(ast.Name(each, ast.Load()), name, body)
        case ast.Try(body, _, _, finalbody) if node.handlers:
            # Drop the handlers.
            yield [ast.Try(body, [], [], finalbody)] if finalbody else body


def left_behind(node: ast.AST) -> Instead:
    match node:
        case ast.With(items, body):
            # First mutant: enter the context and never leave it. Second: do not enter it at all.
            entered: list[ast.stmt] = []
            for item in items:
                enter = ast.Call(ast.Attribute(item.context_expr, "__enter__", ast.Load()), [], [])
                bound = item.optional_vars
                entered.append(ast.Expr(enter) if bound is None else ast.Assign([bound], enter, lineno=0))
            yield [*entered, *body]
            if all(item.optional_vars is None for item in items):
                yield body
            for index in range(len(items) if len(items) > 1 else 0):
                yield [ast.With(items[:index] + items[index + 1 :], body, lineno=0)]
        case ast.Try(body, handlers, orelse, finalbody) if finalbody:
            kept = [ast.Try(body, handlers, orelse, [])] if handlers else body
            yield [*kept, *finalbody]
            yield kept


OPERATORS: dict[str, list[Operator]] = {name: [_pattern(*pair) for pair in pairs] for name, pairs in PATTERNS.items()}
for _name, _more in {
    "== for startswith or in, and back": string_compared,
    "condition dropped": condition,
    "branch dropped": branch,
    "except narrowed": narrower_except,
    "a mode or a hook left behind": left_behind,
    "break or return after the first": one_round,
    "one of several inputs": first_input_only,
    "one of several left out": one_of_several,
    "key ignored": key,
    "argument dropped": argument,
    "arguments swapped": arguments_swapped,
    "override dropped": override,
    "and for or, and back": either,
    "constant": constant,
}.items():
    OPERATORS.setdefault(_name, []).append(_more)
for _name in (*dict.fromkeys(_DROPPED.values()), "loop goes on", "nothing returned", "raise dropped"):
    OPERATORS.setdefault(_name, []).append(_dropping(_name))
OPERATORS["statement dropped"] = [_dropping("statement dropped")]
