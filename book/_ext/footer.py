"""Show the torch version of the book in each page's footer, and delete files from the site that no page loads.

A local Sphinx extension, named in `_config.yml`. The version is read from `requirements.txt`, where torch is pinned, so
no page can name a version that was not tested.
"""

import hashlib
import os
import re
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.errors import ConfigError

# The page that shows the day of the build; for reproducible builds, SOURCE_DATE_EPOCH sets the time.
STATUS = "chapters/reference/status"
# Additional search words for sections.
SYNONYMS = Path(__file__).parent.parent / "search_words.yml"
# Files below _static that no page loads: source maps, translations, templates of the theme, pictures of Sphinx, and
# the icons, which are in the site's style sheet (see bundle.py).
UNREAD = (
    *("*.map", "*.po", "*.mo", "vendor/**/fa-*", "fontawesome.js*", "*webpack-macros.html"),
    *("check-solid.svg", "copy-button.svg", "copybutton_funcs.js", "file.png", "minus.png", "plus.png", "theme.css"),
)


def pinned_version(requirements: Path, package: str) -> str:
    """The version to which `requirements` pins `package`.

    Raises ConfigError if the file is missing or does not pin the package with `==`.
    """
    if not requirements.is_file():
        raise ConfigError(f"{requirements} is missing: run the build from the root of the project.")
    pin = re.search(rf"^{re.escape(package)}==([^\s;]+)", requirements.read_text("utf-8"), re.MULTILINE)
    if pin is None:
        raise ConfigError(f"{requirements.name} does not pin {package}: add a line `{package}==<version>`.")
    return pin[1]


def drop_unread(static: Path) -> int:
    """Delete files that no page loads from the built `_static` folder; return the number of bytes freed."""
    unread = {path for pattern in UNREAD for path in static.rglob(pattern)}
    freed = sum(path.stat().st_size for path in unread)
    for path in unread:
        path.unlink()
    for folder in sorted((path for path in static.rglob("*") if path.is_dir()), reverse=True):
        if not any(folder.iterdir()):
            folder.rmdir()
    return freed


def _name_version(app: Sphinx, config: Any) -> None:
    config.html_context["torch_version"] = pinned_version(Path(app.srcdir) / "requirements.txt", "torch")


def _name_day(_app: Sphinx, page: str, _template: str, context: dict[str, Any], _tree: Any) -> None:
    if page == STATUS:
        context["built_on"] = time.strftime(
            "%Y-%m-%d", time.gmtime(float(os.environ.get("SOURCE_DATE_EPOCH", time.time())))
        )


def _name_folds(app: Sphinx, _page: str, _template: str, context: dict[str, Any], _tree: Any) -> None:
    """Remove the label that MyST-NB gives to all folds, so that each is named after its visible text."""
    if "body" in context:
        context["body"] = context["body"].replace('<summary aria-label="Toggle hidden content">', "<summary>")


def _slim(app: Sphinx, failure: Exception | None) -> None:
    if failure is None and app.builder.format == "html":
        drop_unread(Path(app.outdir) / "_static")


def static_digest(files: Iterable[Path]) -> str:
    """A digest of files and folders."""
    digest = hashlib.sha256()
    for top in files:
        for path in [top] if top.is_file() else sorted(path for path in top.rglob("*") if path.is_file()):
            digest.update(f"{path.relative_to(top.parent)}\n".encode() + path.read_bytes())
    return digest.hexdigest()


def _own_static(app: Sphinx) -> tuple[str, Path]:
    folders = [Path(app.confdir) / folder for folder in app.config.html_static_path]
    return static_digest([*folders, SYNONYMS]), Path(app.doctreedir) / "static.sha256"


def _copy_static(app: Sphinx, _env: object, added: set[str], *_: object) -> list[str]:
    """Mark one page as outdated if static files have changed, because otherwise Sphinx does not copy them."""
    # Another extension loads this one, which runs after all pages are read: it is safe in parallel builds, but does not
    # say so.
    if "sphinx_multitoc_numbering" in app.extensions:
        app.extensions["sphinx_multitoc_numbering"].parallel_read_safe = True
    digest, kept = _own_static(app)
    if app.config.root_doc in added or (kept.is_file() and kept.read_text("utf-8") == digest):
        return []
    return [app.config.root_doc]


def _keep_digest(app: Sphinx, failure: Exception | None) -> None:
    if failure is None:
        digest, kept = _own_static(app)
        kept.write_text(digest, "utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("config-inited", _name_version)
    app.connect("html-page-context", _name_day)
    app.connect("html-page-context", _name_folds)
    app.add_js_file("wrap_lines.js", loading_method="defer")
    app.connect("env-get-outdated", _copy_static)
    app.connect("build-finished", _slim)
    app.connect("build-finished", _keep_digest)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
