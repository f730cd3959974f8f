"""Add buttons for the repository, edits, reports, discussion and running a page, once the book has an address.

A local Sphinx extension, named in `_config.yml`. It changes the theme's buttons: the edit button leads to the
manuscript instead of the notebook, and the launch buttons lead to the generated notebook. Without an address, no
page has any of these buttons.
"""

from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from sphinx.application import Sphinx
from sphinx.errors import ConfigError

from press.imprint import Imprint, read
from press.manuscript.problems import PressError

# Lines of pages that are replaced with a text, or with "" if there is no address.
ADDRESS, BUTTONS = "<!-- the address -->", "<!-- the buttons -->"
_NAMES = {"binderhub_url": "Binder", "colab_url": "Colab", "jupyterhub_url": "JupyterHub"}
# The theme creates its buttons at priority 500.
_LATE = 900


def replacements(address: Imprint) -> dict[str, str]:
    """The text that replaces each of these lines."""
    if not address.repository:
        return {ADDRESS: "", BUTTONS: ""}
    clone = f"Get the project from <{address.repository}>:\n\n```bash\n$ git clone {address.repository}\n```"
    if address.discussion:
        clone += f"\n\nIf something does not work, [ask]({address.discussion})."
    listed = launchers(address)
    opened = (
        f"The rocket at the top of a notebook's page opens it in {listed}. Run its cells from top to bottom: the first "
        "one, which is folded, installs what is missing."
    )
    return {ADDRESS: clone, BUTTONS: opened if listed else ""}


def launchers(address: Imprint) -> str:
    """The services in a page's launch menu: "Binder or Colab", or ``""``."""
    *some, last = [_NAMES[launcher] for launcher, _ in address.launchers] or [""]
    return f"{', '.join(some)} or {last}" if some else last


def manuscript_of(root: Path, page: str) -> str:
    """The path of a page's manuscript, or of its folder of exercises, in the repository; ``""`` if there is none.

    A page without code is its own manuscript. ``press.book`` knows the others, but needs more packages than rendering.
    """
    _, _, name = page.partition("/")
    here = f"{page}.md" if page.startswith("book/") else ""
    found = (here, f"book/{page}.md", f"book/{name}.md", f"fxbook/tasks/{name}")
    return next((path for path in found if path and (root / path).exists()), "")


def _name_address(app: Sphinx, config: Any) -> None:
    try:
        address = read(Path(app.srcdir))
    except PressError as error:
        raise ConfigError(str(error)) from error
    config.book_address = [address.repository, address.branch, *address.launchers]
    app.opened = address  # type: ignore[attr-defined]
    if address.repository:
        config.html_theme_options |= {
            "repository_url": address.repository,
            "repository_branch": address.branch,
            "repository_provider": address.host(),
            "use_repository_button": True,
            "use_edit_page_button": True,
            "use_issues_button": True,
            "launch_buttons": {"notebook_interface": "jupyterlab", **dict(address.launchers)},
        }


def _show_address(app: Sphinx, _page: str, source: list[str]) -> None:
    for line, text in replacements(app.opened).items():  # type: ignore[attr-defined]
        source[0] = source[0].replace(line, text)


def _lead_to_manuscript(app: Sphinx, page: str, _template: str, context: dict[str, Any], _tree: Any) -> None:
    address: Imprint = app.opened  # type: ignore[attr-defined]
    path = manuscript_of(Path(app.srcdir), page)
    for group in context.get("header_buttons", ()):
        if group.get("label") == "source-buttons":
            kept = (_led(button, page, address, path) for button in group["buttons"])
            group["buttons"] = [button for button in kept if button] + _discussed(address)


def _say_where_to_solve(app: Sphinx, page: str, _template: str, context: dict[str, Any], _tree: Any) -> None:
    """Say below the title of a page of exercises where its cells run."""
    if not page.startswith("exercises/") or "body" not in context:
        return
    opens = launchers(app.opened)  # type: ignore[attr-defined]
    setup = context["pathto"]("book/setup")
    note = (
        f'You can only read this page. To solve the exercises, <a href="{setup}">set up</a> the project, run '
        f"<code>make lab</code> and open <code>{page}.ipynb</code>"
        + (f", or open this page in {opens} with the rocket at the top." if opens else ".")
    )
    context["body"] = context["body"].replace("</h1>", f'</h1>\n<p class="fx-where">{note}</p>', 1)


def _led(button: dict[str, Any], page: str, address: Imprint, path: str) -> dict[str, Any] | None:
    """Give a button the book's own link and text; return ``None`` for an edit button on a generated page."""
    if button["label"] == "source-edit-button":
        if not path:
            return None
        url = address.edit(path) if path.endswith(".md") else address.folder(path)
        return button | {"url": url, "text": "Edit this page", "tooltip": "Edit the manuscript of this page"}
    if button["label"] == "source-issues-button":
        title, body = ("issue[title]", "issue[description]") if address.host() == "gitlab" else ("title", "body")
        query = urlencode({title: f"Error on the page {page}", body: "What is wrong:\n\nWhat would be right:\n"})
        url = f"{address.report()}?{query}"
        return button | {"url": url, "text": "Report an error", "tooltip": "Report an error on this page"}
    return button


def _discussed(address: Imprint) -> list[dict[str, Any]]:
    """The button for the discussion, if there is one."""
    if not address.discussion:
        return []
    shown = {"type": "link", "label": "source-discussion-button", "icon": "fas fa-comments"}
    return [shown | {"url": address.discussion, "text": "Discuss", "tooltip": "Ask or answer a question"}]


def setup(app: Sphinx) -> dict[str, bool]:
    # A new address makes every page outdated.
    app.add_config_value("book_address", [], "env")
    app.connect("config-inited", _name_address)
    app.connect("source-read", _show_address)
    app.connect("html-page-context", _lead_to_manuscript, priority=_LATE)
    app.connect("html-page-context", _say_where_to_solve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
