"""Build one style sheet and one script for the whole site, with only what its pages use.

A local Sphinx extension, named in `_config.yml`. The theme loads sixteen files on every page, mostly for parts that
this book does not use. After the pages are written, their style sheets are merged, without rules for classes and ids
that occur in no page and no script, and so are the scripts. The icons are in the style sheet, as a subset of the
theme's font.
"""

import base64
import functools
import hashlib
import io
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pydata_sphinx_theme
import tinycss2
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from tinycss2 import ast

STYLE, SCRIPT = "site.css", "site.js"
# Files that the theme's own templates load, before and after the files that Sphinx lists.
THEME_STYLES = ("basic.css", "styles/pydata-sphinx-theme.css")
THEME_SCRIPTS = ("scripts/bootstrap.js", "scripts/pydata-sphinx-theme.js")
# The folder in which the theme ships its fonts. Reading the older of their two formats needs no additional package.
ICONS = Path(pydata_sphinx_theme.__file__).parent / "theme/pydata_sphinx_theme/static/vendor/fontawesome/webfonts"
# Of the twelve components in Bootstrap's script, the theme uses menus and tooltips, which set these classes.
BOOTSTRAP = "scripts/bootstrap.js"
OF_BOOTSTRAP = {"collapse", "collapsed", "collapsing", "dropdown", "dropdown-menu", "dropup", "fade", "show", "showing",
                "tooltip", "tooltip-arrow", "tooltip-inner", "bs-tooltip-auto", "bs-tooltip-bottom", "bs-tooltip-end",
                "bs-tooltip-start", "bs-tooltip-top"}  # fmt: skip
_NAMED = re.compile(r"\s(?:class|id)=(?:\"([^\"]*)\"|'([^']*)')")
_WORD = re.compile(r"[\w-]+")
_NOTICE = re.compile(r"/\*!.*?\*/", re.DOTALL)
_CUSTOM = re.compile(r"(?<![\w-])--[\w-]+")
_MAPPED = re.compile(r"\n//# sourceMappingURL.*")
_INLINE = re.compile(r"<script[^>]*>([^<].*?)</script>", re.DOTALL)
_LINK = re.compile(rf"(_static/(?:{re.escape(STYLE)}|{re.escape(SCRIPT)}))\?v=\w*")
_ASKED = re.compile(r"var\(\s*(--[\w-]+)")
_DECLARED = re.compile(r"(?<=[{;])(--[\w-]+):(?:[^;{}\"']|\"[^\"]*\"|'[^']*')*(?:;|(?=}))")


def names_of_pages(pages: Iterable[str]) -> set[str]:
    """The classes and ids in the HTML of pages."""
    return {name for page in pages for one, other in _NAMED.findall(page) for name in (one or other).split()}


# ---- the style sheet -------------------------------------------------------------------------------------------------


def purged(css: str, names: set[str]) -> str:
    """Minify a style sheet and drop rules that need a class or id not among the names."""
    rules = tinycss2.parse_stylesheet(css, skip_comments=True, skip_whitespace=True)
    return "".join(_kept(rules, names))


def _kept(rules: Iterable[ast.Node], names: set[str]) -> Iterator[str]:
    for rule in rules:
        if isinstance(rule, ast.QualifiedRule):
            if selectors := [text for text, needed in _selectors(rule.prelude) if needed <= names]:
                yield f"{','.join(selectors)}{{{_declarations(rule.content)}}}"
        elif isinstance(rule, ast.AtRule):
            prelude = tinycss2.serialize(rule.prelude).strip()
            if rule.lower_at_keyword in ("media", "supports", "container", "layer") and rule.content is not None:
                inner = "".join(_kept(tinycss2.parse_rule_list(rule.content, True, True), names))
                if inner:
                    yield f"@{rule.at_keyword} {prelude}{{{inner}}}"
            elif rule.lower_at_keyword == "charset":
                continue  # The bundled file needs no declaration of its character set.
            elif rule.content is None:
                raise ValueError(f"cannot bundle @{rule.at_keyword} {prelude}: it fetches another file")
            else:
                yield f"@{rule.at_keyword} {prelude}{{{_short(rule.content)}}}"
        elif isinstance(rule, ast.ParseError):
            raise ValueError(f"line {rule.source_line}: {rule.message}")


def _selectors(prelude: list[ast.Node]) -> Iterator[tuple[str, set[str]]]:
    """The selectors of a list, each with the classes and ids that an element or its ancestors must have."""
    part: list[ast.Node] = []
    for token in [*prelude, ast.LiteralToken(0, 0, ",")]:
        if token == ",":
            needed = {now.value for before, now in zip([None, *part], part, strict=False) if _is_name(before, now)}
            yield tinycss2.serialize(part).strip(), needed
            part = []
        else:
            part.append(token)


def _is_name(before: ast.Node | None, now: ast.Node) -> bool:
    """Whether a token names a class or an id; names in parentheses, as in ``:not(.open)``, do not count."""
    return now.type == "hash" or (now.type == "ident" and before == ".")


def _declarations(content: list[ast.Node]) -> str:
    return _short(content).rstrip(";")


def _short(content: list[ast.Node]) -> str:
    """The text between braces, without comments and repeated spaces."""
    text = tinycss2.serialize([token for token in content if token.type != "comment"])
    # This is safe for strings, since only addresses contain two spaces or a space after a colon.
    if '"' in text or "'" in text or "url(" in text:
        return text.strip()
    return re.sub(r"\s*([;:,])\s+|\s+(;)", r"\1\2", re.sub(r"\s+", " ", text)).strip()


def without_unused(css: str, used: set[str]) -> str:
    """Drop custom properties that no rule uses and that are not in ``used``."""
    while (shorter := _DECLARED.sub(functools.partial(_if_known, used | set(_ASKED.findall(css))), css)) != css:
        css = shorter
    return css.replace(";}", "}")


def _if_known(known: set[str], declared: re.Match[str]) -> str:
    return declared[0] if declared[1] in known else ""


# ---- icons -----------------------------------------------------------------------------------------------------------


def with_icons(css: str, font_of: Callable[[str], Path]) -> str:
    """Embed the fonts, reduced to the icons that are used, and drop unused fonts.

    Args:
        css: contains icons as characters of Unicode's private use area.
        font_of: returns the file of a font by the name in its address, without the suffix.
    """
    icons = {ord(sign) for sign in css if 0xE000 <= ord(sign) < 0xF900}

    def inlined(face: re.Match[str]) -> str:
        name = re.search(r"url\([^)]*?(fa-[\w-]+)\.\w+\)", face[0])
        if not name:
            return face[0]
        if not _FACES[name[1]].search(css.replace(face[0], "")):
            return ""
        data = base64.b64encode(_subset(font_of(name[1]), icons)).decode()
        return re.sub(r"src:[^;}]*", f'src:url(data:font/woff;base64,{data}) format("woff")', face[0])

    return re.sub(r"@font-face\s*\{[^}]*\}", inlined, css)


# The rules that load each font.
_FACES = {
    "fa-solid-900": re.compile(r"\.fa-solid\b|\.fas\b|\(--fa-font-solid\)"),
    "fa-regular-400": re.compile(r"\.fa-regular(?=:before|\{)|\.far(?=:before|\{)|\(--fa-font-regular\)"),
    "fa-brands-400": re.compile(r"\.fa-brands\{|\.fab\{|\(--fa-font-brands\)"),
}


def _subset(file: Path, icons: set[int]) -> bytes:
    from fontTools import subset  # Imported only if the style sheet changes.
    from fontTools.ttLib import TTFont

    # Otherwise fontTools logs each table that it drops.
    logging.getLogger("fontTools").setLevel(logging.WARNING)
    # With a new timestamp, each build would differ.
    font = TTFont(file, recalcTimestamp=False)
    options = subset.Options(hinting=False, layout_features=[], name_IDs=[], notdef_outline=False, glyph_names=False)
    cutter = subset.Subsetter(options)
    cutter.populate(unicodes=icons & set(font.getBestCmap()))
    cutter.subset(font)
    font.flavor = "woff"
    out = io.BytesIO()
    font.save(out)
    return out.getvalue()


# ---- the site --------------------------------------------------------------------------------------------------------


def notices(sheets: Iterable[str]) -> str:
    """The licence notices in style sheets, each once: comments that begin with ``/*!``."""
    return "".join(dict.fromkeys(notice for sheet in sheets for notice in _NOTICE.findall(sheet)))


def brief(script: str) -> str:
    """A script without indentation, empty lines and comment lines."""
    lines = (line.strip() for line in script.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//"))


def _sheet(sheets: Sequence[str], names: set[str], custom: set[str]) -> str:
    css = without_unused("".join(purged(sheet, names) for sheet in sheets), custom)
    return '@charset "UTF-8";' + notices(sheets) + with_icons(css, lambda name: ICONS / f"{name}.ttf")


def _once(cache: Path, needs: Iterable[str], make: Callable[[], str]) -> str:
    """The cached result of ``make``, which is called again if ``needs`` or this file has changed."""
    key = hashlib.sha256("\0".join([Path(__file__).read_text("utf-8"), *needs]).encode()).hexdigest()
    if not cache.is_file() or cache.read_text("utf-8").partition("\n")[0] != key:
        cache.write_text(f"{key}\n{make()}", "utf-8")
    return cache.read_text("utf-8").partition("\n")[2]


def bundle(out: Path, cache: Path, styles: Iterable[str], scripts: Iterable[str]) -> None:
    """Write the bundled style sheet and script of a built site, link them in its pages, and delete the originals.

    Args:
        out: the folder of the site.
        cache: keeps the style sheet for the next build.
        styles: files below ``_static``, in order, placed after the theme's.
        scripts: files below ``_static``, in order, placed before the theme's.
    """
    static = out / "_static"
    styles, scripts = [*THEME_STYLES, *styles], [*scripts, *THEME_SCRIPTS]
    pages = {path: path.read_text("utf-8") for path in sorted(out.rglob("*.html")) if static not in path.parents}
    others = [path.read_text("utf-8") for path in (static / "search/results.js", static / "lists.js") if path.is_file()]
    code = [(static / name).read_text("utf-8") for name in scripts]
    inline = {text for page in pages.values() for text in _INLINE.findall(page)}
    spoken = [text for name, text in zip(scripts, code, strict=True) if name != BOOTSTRAP] + sorted(inline) + others
    names = names_of_pages(pages.values()) | OF_BOOTSTRAP | set(_WORD.findall("\n".join(spoken)))
    sheets = [(static / name).read_text("utf-8") for name in styles]
    custom = {word for text in [*spoken, *pages.values()] for word in _CUSTOM.findall(text)}
    css = _once(cache, [*sheets, *sorted(names), *sorted(custom)], lambda: _sheet(sheets, names, custom))
    version = {}
    for name, text in ((STYLE, css), (SCRIPT, "\n;\n".join(brief(_MAPPED.sub("", text)) for text in code))):
        (static / name).write_text(text, "utf-8")
        version[f"_static/{name}"] = hashlib.sha256(text.encode()).hexdigest()[:8]
    for path, page in pages.items():
        named = _LINK.sub(lambda link: f"{link[1]}?v={version[link[1]]}", page)
        if named != page:
            path.write_text(named, "utf-8")
    for name in (*styles, *scripts):
        (static / name).unlink(missing_ok=True)


def _local(files: Iterable[Any]) -> list[str]:
    """The files below ``_static`` that Sphinx lists for a page.

    Raises:
        ExtensionError: a file is missing from the site.
    """
    named = [str(file.filename) for file in files if file.filename]
    if strange := [name for name in named if not name.startswith("_static/")]:
        raise ExtensionError(f"cannot bundle {', '.join(strange)}: only what is below _static is part of the site")
    return [name.removeprefix("_static/").partition("?")[0] for name in named]


def _note(app: Sphinx, page: str, _template: str, context: dict[str, Any], _tree: Any) -> None:
    """Remember the files that the search page lists: every page loads them, and each build writes that page last."""
    if page == "search":
        app.builder.fx_listed = (_local(context["css_files"]), _local(context["script_files"]))


def _bundle(app: Sphinx, failure: Exception | None) -> None:
    listed = getattr(app.builder, "fx_listed", None)
    if failure is None and listed and app.builder.name == "html":
        bundle(Path(app.outdir), Path(app.doctreedir) / "site.css", *listed)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", _note, priority=900)
    # After extensions that add files at the end.
    app.connect("build-finished", _bundle, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
