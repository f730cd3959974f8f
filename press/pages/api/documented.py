"""The public names of torch.fx: what it exports, what its documentation lists, and members of its classes."""

from __future__ import annotations

import ast
import dataclasses
import functools
import importlib
import inspect
import re
import textwrap
from collections.abc import Iterator
from typing import Any

import torch
from torch import fx, nn

from press.pages.api.names import BEYOND

PAGE = "https://docs.pytorch.org/docs/stable/fx.html"
_EXPERIMENTAL = "https://docs.pytorch.org/docs/stable/fx.experimental.html"
_SOURCE = "https://github.com/pytorch/pytorch/blob/v{version}/{path}#L{line}"
# The official page lists these functions. Of a class, it lists the members with a docstring, but none of Proxy.
_FUNCTIONS = ("symbolic_trace", "wrap", "replace_pattern")
_WITHOUT_MEMBERS = (fx.Proxy,)
# Sections on the torch.fx.experimental page.
_EXPERIMENTAL_MODULES = ("debug", "merge_matmul", "meta_tracer", "optimization", "proxy_tensor", "symbolic_shapes")
_LONGEST_DEFAULT, _LONGEST_TYPE = 24, 40


@dataclasses.dataclass(frozen=True)
class Name:
    """A public name: ``full`` is ``"torch.fx.Graph.lint"``; ``owner`` is the class of a member.

    ``listed`` says whether the official torch.fx page has an entry with that name.
    """

    full: str
    object: Any
    owner: type | None
    listed: bool

    @property
    def shown(self) -> str:
        """The name without the common prefix: ``Graph.lint``, ``symbolic_trace``, ``passes.shape_prop.ShapeProp``."""
        return self.full.removeprefix("torch.fx.")

    @property
    def last(self) -> str:
        return self.full.rpartition(".")[2]

    @property
    def group(self) -> str:
        """The class that the name is or belongs to, or ``"functions"``; beyond ``torch.fx.__all__``, the subpackage."""
        if self.full in BEYOND:
            return next((part for part in ("passes", "experimental") if self.shown.startswith(f"{part}.")), "others")
        holder = self.owner or self.object
        return holder.__name__ if isinstance(holder, type) else "functions"


@functools.cache
def names() -> tuple[Name, ...]:
    """Every name in the index: those in ``torch.fx.__all__`` with the classes' members, then those in ``BEYOND``."""
    found = []
    for exported in fx.__all__:
        thing = getattr(fx, exported)
        is_class = isinstance(thing, type)
        found.append(Name(f"torch.fx.{exported}", thing, None, is_class or exported in _FUNCTIONS))
        if is_class:
            found += sorted(_members(thing), key=lambda name: name.last)
    for full in BEYOND:
        module, _, last = full.rpartition(".")
        found.append(Name(full, getattr(importlib.import_module(module), last), None, False))
    return tuple(found)


def _members(cls: type) -> Iterator[Name]:
    """The public members of a class: methods and properties, annotations in its body, and what ``__init__`` sets."""
    # The page lists inherited members of Tracer, but not of other classes.
    bases = [base for base in cls.__mro__ if cls is fx.Tracer and base.__module__.startswith("torch.fx")] or [cls]
    seen = {*dir(nn.Module), *nn.Module.__annotations__} if issubclass(cls, nn.Module) else set()
    for base in bases:
        for last in [*vars(base), *inspect.get_annotations(base), *_set_by_init(base)]:
            if last.startswith("_") or last in seen:
                continue
            seen.add(last)
            held = inspect.getattr_static(cls, last, None)
            explained = (inspect.isfunction(held) or isinstance(held, property)) and bool(held.__doc__)
            yield Name(f"torch.fx.{cls.__name__}.{last}", held, cls, explained and cls not in _WITHOUT_MEMBERS)


def _set_by_init(cls: type) -> list[str]:
    """The attributes that ``__init__`` sets on ``self``, not counting classes that are defined inside it."""
    if "__init__" not in vars(cls):
        return []
    tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(vars(cls)["__init__"]))))
    found, todo = [], list(ast.iter_child_nodes(tree.body[0]))
    while todo:
        node = todo.pop(0)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and ast.unparse(node.value) == "self":
            found.append(node.attr)
        if not isinstance(node, ast.ClassDef):
            todo += ast.iter_child_nodes(node)
    return found


def signature(name: Name) -> str:
    """The text after the name: parameters with their defaults, and the return type; for an attribute, its type."""
    if isinstance(name.object, property):
        return _typed(inspect.get_annotations(name.object.fget).get("return"), ": ")
    if not callable(name.object):
        return _typed(_annotation(name), ": ")
    made = isinstance(name.object, type)
    try:
        # GraphModule's __new__ takes anything.
        initialised = made and inspect.isfunction(name.object.__init__)
        found = inspect.signature(name.object.__init__ if initialised else name.object)
    except (TypeError, ValueError):
        return "(…)"
    given = list(found.parameters.values())[1 if name.owner or initialised else 0 :]
    given = [one for one in given if not one.name.startswith("_")]
    parts: list[str] = []
    for one in given:
        if one.kind is one.KEYWORD_ONLY and not any("*" in part for part in parts):
            parts.append("*")
        stars = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "")
        # A default that is `empty` itself, as in `Graph.placeholder`: only the defaults before it show that it is one.
        marker = not stars and one.default is one.empty and one.kind is not one.KEYWORD_ONLY and "=" in "".join(parts)
        default = "inspect.Signature.empty" if marker else "" if one.default is one.empty else _default(one.default)
        parts.append(f"{stars}{one.name}" + (f"={default}" if default else ""))
    return f"({', '.join(parts)})" + ("" if made else _typed(found.return_annotation, " -> "))


def _default(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST_DEFAULT and "<" not in text else "…"


def _annotation(name: Name) -> Any:
    bases = name.owner.__mro__ if name.owner else ()
    return next((noted[name.last] for base in bases if name.last in (noted := inspect.get_annotations(base))), None)


def _typed(annotation: Any, before: str) -> str:
    """A short annotation, or ``""`` if there is none or it is too long to help."""
    if annotation is None or annotation in (inspect.Signature.empty, Any) or annotation == "Any":
        return ""
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    text = re.sub(r"ForwardRef\('(\w+)'\)", r"\1", text.replace("typing.", ""))
    text = re.sub(r"\b(?:\w+\.)+(?=\w)", "", text).replace("'", "").replace('"', "").replace("~", "")
    # A private name or a type variable does not help.
    hidden = text == "None" or re.search(r"\b_|\b\w+T$", text)
    return f"{before}{text}" if len(text) <= _LONGEST_TYPE and not hidden else ""


def address(name: Name) -> str:
    """A name's official page; if it has none, the page of its class or module, or its source on GitHub."""
    if name.listed or name.owner:
        return f"{PAGE}#{name.full if name.listed else name.full.rpartition('.')[0]}"
    module = name.full.rpartition(".")[0]
    if module.startswith("torch.fx.experimental.") and module.rpartition(".")[2] in _EXPERIMENTAL_MODULES:
        return f"{_EXPERIMENTAL}#module-{module}"
    held = inspect.unwrap(name.object)
    if not isinstance(held, type) and not inspect.isfunction(held):
        held = type(held)
    path = inspect.getsourcefile(held) or ""
    inside = path[path.rindex("/torch/") + 1 :]
    version = torch.__version__.partition("+")[0]
    return _SOURCE.format(version=version, path=inside, line=inspect.getsourcelines(held)[1])
