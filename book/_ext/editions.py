"""Offer the PDF and the EPUB in the download menu, if `make pdf` and `make epub` have built them.

A local Sphinx extension, named in `_config.yml`. It copies the files from `_build/editions` into the site.
"""

import shutil
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

SUFFIXES = {".pdf": "file-pdf", ".epub": "book"}
# The theme builds its menu at priority 501.
_AFTER_THE_THEME = 600


def made(root: Path) -> list[Path]:
    """The existing editions, the PDF first."""
    folder = root / "_build" / "editions"
    return [path for suffix in SUFFIXES for path in sorted(folder.glob(f"*{suffix}"))]


def _note(app: Sphinx, config: Any) -> None:
    """Store the list of editions as a setting, so that Sphinx writes every page again if the list changes."""
    config.editions_offered = [path.name for path in made(Path(app.srcdir))]


def _offer(app: Sphinx, _page: str, _template: str, context: dict[str, Any], _tree: Any) -> None:
    menus = [group for group in context.get("header_buttons", []) if group.get("label") == "download-buttons"]
    for menu in menus:
        for name in app.config.editions_offered:
            suffix = Path(name).suffix
            menu["buttons"].append(
                {
                    "type": "link",
                    "url": context["pathto"](name, 1),
                    "text": f"Whole book, {suffix}",
                    "icon": f"fas fa-{SUFFIXES[suffix]}",
                    "tooltip": f"Download the whole book as one {suffix} file",
                    "label": f"download-book-{suffix[1:]}",
                }
            )


def _take_along(app: Sphinx, failure: Exception | None) -> None:
    if failure is not None or app.builder.format != "html":
        return
    there = made(Path(app.srcdir))
    for old in (path for suffix in SUFFIXES for path in Path(app.outdir).glob(f"*{suffix}")):
        if old.name not in {path.name for path in there}:
            old.unlink()
    for path in there:
        copy = Path(app.outdir) / path.name
        # Keep the file's date, so that an unchanged edition is not copied again.
        if not copy.is_file() or copy.stat().st_mtime_ns != path.stat().st_mtime_ns:
            shutil.copy2(path, copy)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_config_value("editions_offered", [], "html")
    app.connect("config-inited", _note)
    app.connect("html-page-context", _offer, priority=_AFTER_THE_THEME)
    app.connect("build-finished", _take_along)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
