"""What the book says and ships of itself: the verified version in each page's footer, and no file a reader never loads.

A local Sphinx extension, named in `_config.yml`. The footer's version is read from `requirements.txt`, the place where
torch is pinned, so that no page can name a version that the tests did not run with.
"""

import os
import re
import time
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.errors import ConfigError

# The page that tells when it was built; SOURCE_DATE_EPOCH names another moment, for a build that is repeated.
STATUS = "chapters/reference/status"
# Under _static: source maps serve the theme's own authors, .po and .mo files its translators, .ttf browsers of 2013;
# fontawesome.js (1.5 MB) draws the icons that the theme's style sheet already draws with a font.
UNREAD = ("*.map", "*.po", "*.mo", "*.ttf", "fontawesome.js", "fontawesome.js.LICENSE.txt")


def pinned_version(requirements: Path, package: str) -> str:
    """Return the version that `requirements` pins `package` to.

    Raises ConfigError when the file is missing or does not pin the package with `==`.
    """
    if not requirements.is_file():
        raise ConfigError(f"{requirements} is missing: run the build from the root of the project.")
    pin = re.search(rf"^{re.escape(package)}==([^\s;]+)", requirements.read_text("utf-8"), re.MULTILINE)
    if pin is None:
        raise ConfigError(f"{requirements.name} does not pin {package}: add a line `{package}==<version>`.")
    return pin[1]


def drop_unread(static: Path) -> int:
    """Delete from the built `_static` folder what no page loads; return how many bytes that frees."""
    unread = [path for pattern in UNREAD for path in static.rglob(pattern)]
    freed = sum(path.stat().st_size for path in unread)
    for path in unread:
        path.unlink()
    return freed


def _name_version(app: Sphinx, config: Any) -> None:
    config.html_context["torch_version"] = pinned_version(Path(app.srcdir) / "requirements.txt", "torch")


def _name_day(_app: Sphinx, page: str, _template: str, context: dict[str, Any], _tree: Any) -> None:
    if page == STATUS:
        context["built_on"] = time.strftime(
            "%Y-%m-%d", time.gmtime(float(os.environ.get("SOURCE_DATE_EPOCH", time.time())))
        )


def _name_folds(app: Sphinx, _page: str, _template: str, context: dict[str, Any], _tree: Any) -> None:
    """MyST-NB gives each fold of a cell one name, which is not what stands on it: what stands on it is its name."""
    if "body" in context:
        context["body"] = context["body"].replace('<summary aria-label="Toggle hidden content">', "<summary>")


def _slim(app: Sphinx, failure: Exception | None) -> None:
    if failure is None and app.builder.format == "html":
        drop_unread(Path(app.outdir) / "_static")


def changed_static(source: Path, built: Path) -> list[str]:
    """The files of the book's own static folder that the built one lacks or holds in an older form."""
    names = [path.relative_to(source) for path in sorted(source.rglob("*")) if path.is_file()]
    same = [(built / name).is_file() and (built / name).read_bytes() == (source / name).read_bytes() for name in names]
    return [str(name) for name, kept in zip(names, same, strict=True) if not kept]


def _copy_static(app: Sphinx, *_: object) -> list[str]:
    """Sphinx copies static files only when a page is out of date: then the first one is."""
    folders = [Path(app.confdir) / folder for folder in app.config.html_static_path]
    built = Path(app.outdir) / "_static"
    return [app.config.root_doc] if any(changed_static(folder, built) for folder in folders) else []


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the steps with Sphinx."""
    app.connect("config-inited", _name_version)
    app.connect("html-page-context", _name_day)
    app.connect("html-page-context", _name_folds)
    app.add_js_file("wrap_lines.js", loading_method="defer")
    app.connect("env-get-outdated", _copy_static)
    app.connect("build-finished", _slim)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
