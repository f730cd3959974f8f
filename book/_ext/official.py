"""Link API names in text and code to their official documentation, with addresses from the inventories.

A local Sphinx extension, named in `_config.yml`. A generated notebook has no roles, so that it reads well everywhere;
the links are added to the finished page. Nothing is imported or fetched: a name is looked up if the imports of the page
resolve it, or if it is a member of a torch.fx class, as in `graph.lint()`. Ambiguous names and names that the page
defines get no link. In each section, a name has one link in the text and one in the code. Links that authors write to
the documentation are changed to the same version.
"""

from __future__ import annotations

import ast
import collections
import dataclasses
import hashlib
import html
import pathlib
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config

from press.binding.inventory import to_pinned_docs

INVENTORIES = "book/_links"
_FX = "torch.fx."
# Abbreviations of modules in the text.
_SHORT = {"fx": "torch.fx", "nn": "torch.nn", "F": "torch.nn.functional"}
# Attributes of common Python types, whose names do not identify a class of torch.fx.
_EVERYDAY = {name for kind in (list, dict, str, set, bytes, pathlib.Path, Exception) for name in dir(kind)}
# Members that are linked in the text even without their class. Others need an underscore, which no word has.
_ALONE = {"lint", "recompile"}

_BLOCK = re.compile(
    r'(<div class="highlight-(?:ipython3|python3?|default) notranslate"><div class="highlight"><pre>)(.*?)(</pre>)',
    re.DOTALL,
)
_PIECE = re.compile(r"(?P<tag><[^>]+>)|(?P<sign>&[^;\s]+;|.)", re.DOTALL)
_TEXT = re.compile(
    r"(?P<apart><(?P<name>a|h[1-6]|summary|pre|svg|figcaption)\b.*?</(?P=name)>)"
    r'|<code class="docutils literal notranslate">(?P<code>(?:<span class="pre">[^<]*</span>\s*)+)</code>',
    re.DOTALL,
)
_CALLED = re.compile(r"([A-Za-z_][\w.]*)(?:\(.*\))?", re.DOTALL)


@dataclasses.dataclass(frozen=True)
class Found:
    """A name in a piece of code, and its position in characters."""

    start: int
    end: int
    name: str


class Official:
    """The addresses of names, and their abbreviations."""

    def __init__(self, addresses: Mapping[str, str]) -> None:
        self.addresses = addresses
        self.members: dict[str, dict[str, str]] = collections.defaultdict(dict)
        for name in addresses:
            owner, _, last = name.removeprefix(_FX).rpartition(".")
            if name.startswith(_FX) and owner.isidentifier() and owner[:1].isupper():
                self.members[owner][last] = name
        counted = collections.Counter(last for members in self.members.values() for last in members)
        self.single = {
            last: name
            for members in self.members.values()
            for last, name in members.items()
            if counted[last] == 1 and last not in _EVERYDAY
        }
        #: From the usual name of a variable to its class: from ``graph`` to ``Graph``.
        self.variables = {owner.lower(): owner for owner in self.members}

    def of_text(self, text: str, defined: frozenset[str]) -> str | None:
        """The address for inline code in a sentence."""
        match = _CALLED.fullmatch(text)
        if not match or match[1].partition(".")[0] in defined:
            return None
        name = match[1]
        first, _, rest = name.partition(".")
        tried = [name] if rest else []
        tried += [f"{_SHORT[first]}.{rest}"] if first in _SHORT and rest else []
        tried += [f"{_FX}{name}"]
        if not rest and ("_" in name or name in _ALONE):
            tried.append(self.single.get(name, ""))
        owner, _, last = name.rpartition(".")
        tried.append(self.members.get(self.variables.get(owner, ""), {}).get(last, ""))
        return next((self.addresses[one] for one in tried if one in self.addresses), None)


class Code:
    """A page's Python code, with its imports and definitions."""

    def __init__(self, sources: Iterable[str], official: Official) -> None:
        self.official = official
        self.trees = [_parsed(source) for source in sources]
        self._paths: dict[str, str] = {}
        defined = set()
        for node in (node for tree in self.trees for node in ast.walk(tree)):
            match node:
                case ast.Import():
                    for alias in node.names:
                        top = alias.name.partition(".")[0]
                        self._paths[alias.asname or top] = alias.name if alias.asname else top
                case ast.ImportFrom(level=0):
                    self._paths |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
                case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.arg(arg=name):
                    defined.add(name)
                case ast.Name(id=name, ctx=ast.Store()):
                    defined.add(name)
        self._paths = {name: path for name, path in self._paths.items() if name not in defined}
        # The text uses the variable names of the code: a graph is `graph`.
        self.defined = frozenset(defined - self._paths.keys() - official.variables.keys())

    def names(self, number: int) -> Iterator[Found]:
        """The linked names in a piece of code, given by its index, in order."""
        tree = self.trees[number]
        for name, line, start, end in sorted(self._walk(tree, ""), key=lambda one: one[1:]):
            yield Found(*tree.fx_places(line, start, end), name)

    def _walk(self, node: ast.AST, inside: str) -> Iterator[tuple[str, int, int, int]]:
        """Yield full names with line, first and last byte; ``inside`` is the torch.fx base of the class around them."""
        if isinstance(node, ast.Name | ast.Attribute):
            path = self._path(node)
            if path in self.official.addresses and node.lineno == node.end_lineno:
                yield path, node.lineno, node.col_offset, node.end_col_offset
                return
            if isinstance(node, ast.Attribute) and not path and (name := self._member(node, inside)):
                yield name, node.end_lineno, node.end_col_offset - len(node.attr.encode()), node.end_col_offset
        elif isinstance(node, ast.ImportFrom) and not node.level:
            for alias in node.names:
                if (full := f"{node.module}.{alias.name}") in self.official.addresses:
                    yield full, alias.lineno, alias.col_offset, alias.col_offset + len(alias.name.encode())
        elif isinstance(node, ast.ClassDef):
            bases = (self._path(base).removeprefix(_FX) for base in node.bases)
            inside = next((base for base in bases if base in self.official.members), "")
        for part in ast.iter_child_nodes(node):
            yield from self._walk(part, inside)

    def _member(self, node: ast.Attribute, inside: str) -> str | None:
        """The full name of an attribute, if its class is explicit or no other class has this attribute."""
        match node.value:
            case ast.Call(func=ast.Name(id="super")):
                return self.official.members.get(inside, {}).get(node.attr)
            case ast.Name(id=word) | ast.Attribute(attr=word) if word in self.official.variables:
                return self.official.members[self.official.variables[word]].get(node.attr)
            case ast.Name(id="self"):
                return None
        return self.official.single.get(node.attr)

    def _path(self, node: ast.AST) -> str:
        match node:
            case ast.Name(id=name):
                return self._paths.get(name, "")
            case ast.Attribute(value=value, attr=name):
                return f"{path}.{name}" if (path := self._path(value)) else ""
        return ""


def _parsed(source: str) -> ast.Module:
    """The syntax tree of a piece of code, empty if that is not Python, such as a magic."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        tree = ast.parse("")
    lines = source.splitlines(keepends=True)

    def places(line: int, start: int, end: int) -> tuple[int, int]:
        """Convert byte offsets in a line, as in syntax trees, to character offsets."""
        before, here = sum(map(len, lines[: line - 1])), lines[line - 1].encode()
        return before + len(here[:start].decode()), before + len(here[:end].decode())

    tree.fx_places = places  # type: ignore[attr-defined]
    return tree


def linked(page: str, official: Official) -> str:
    """Add links to a page; ``page`` is the HTML of its article."""
    blocks = [html.unescape(re.sub(r"<[^>]+>", "", block[2])) for block in _BLOCK.finditer(page)]
    code = Code(blocks, official)
    numbers = iter(range(len(blocks)))
    return "".join(_linked_section(section, code, numbers) for section in re.split(r"(?=<h2\b)", page))


def _linked_section(section: str, code: Code, numbers: Iterator[int]) -> str:
    in_code: set[str] = set()
    in_text: set[str] = set()

    def in_sentence(match: re.Match[str]) -> str:
        if match["apart"]:
            return match[0]
        address = code.official.of_text(html.unescape(re.sub(r"<[^>]+>", "", match["code"])), code.defined)
        if address is None or address in in_text:
            return match[0]
        in_text.add(address)
        return f'<a class="fx-api" href="{html.escape(address)}">{match[0]}</a>'

    section = _BLOCK.sub(
        lambda block: block[1] + _with_links(block[2], code, next(numbers), in_code) + block[3], section
    )
    return _TEXT.sub(in_sentence, section)


def _with_links(block: str, code: Code, number: int, seen: set[str]) -> str:
    """Link the names in highlighted code that are not yet in ``seen``, and add them to it.

    A link that would cross highlighting elements is left out.
    """
    pieces = [(match["tag"], match.start(), match.end()) for match in _PIECE.finditer(block)]
    signs = [at for at, (tag, _, _) in enumerate(pieces) if not tag]
    parts, done = [], 0
    for found in code.names(number):
        first, last = signs[found.start], signs[found.end - 1]
        if first and (pieces[first - 1][0] or "").startswith("<span"):
            first -= 1
        if last + 1 < len(pieces) and pieces[last + 1][0] == "</span>":
            last += 1
        start, end = pieces[first][1], pieces[last][2]
        inside = block[start:end]
        if found.name in seen or start < done or inside.count("<span") != inside.count("</span>"):
            continue
        # A page has hundreds of these links, so the tab key skips them; the text has the same ones.
        address = html.escape(code.official.addresses[found.name])
        parts += [block[done:start], f'<a class="fx-api" href="{address}" tabindex="-1">{inside}</a>']
        seen.add(found.name)
        done = end
    return "".join([*parts, block[done:]])


def _set_links(app: Sphinx, _page: str, _template: str, context: dict[str, Any], tree: Any) -> None:
    if tree is None or not context.get("body"):
        return
    if not hasattr(app, "fx_official"):
        inventory: Mapping[str, Mapping[str, tuple[str, str, str, str]]] = getattr(app.env, "intersphinx_inventory", {})
        names = {
            name: entry[2] for kind in inventory if kind.startswith("py:") for name, entry in inventory[kind].items()
        }
        app.fx_official = Official(names)
    context["body"] = linked(to_pinned_docs(context["body"]), app.fx_official)


def _know_inventories(app: Sphinx, config: Config) -> None:
    """Make every page outdated if an inventory has changed."""
    files = sorted((pathlib.Path(app.confdir) / INVENTORIES).glob("*.inv"))
    config.official_inventories = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def setup(app: Sphinx) -> dict[str, bool]:
    app.setup_extension("sphinx.ext.intersphinx")
    app.add_config_value("official_inventories", "", "html", [str])
    app.connect("config-inited", _know_inventories)
    app.connect("html-page-context", _set_links)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
