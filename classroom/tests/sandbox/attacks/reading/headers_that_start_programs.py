"""Name in the header of a script a format that is read by another program, in each place where a name is looked up.

Harm: a program runs as the grader.
"""

FORMATS = [
    "marimo",
    "quarto",
    "pandoc",
    "spin",
    "sphinx",
    "myst",
    "rmarkdown",
    "markdown",
    "nomarker",
    "hydrogen",
    "light",
    "percent",
    "ipynb",
    "../../x",
]
LINES = ("text_representation: {extension: .py, format_name: @}", "formats: ipynb,py:@", "main_language: '@'")


def handed_in():
    for name in FORMATS:
        for line in LINES:
            header = ["---", "jupyter:", "  jupytext:", f"    {line.replace('@', name)}", "---"]
            for start in ("", "#!/bin/sh\n", "# -*- coding: utf-8 -*-\n", "\ufeff", "# %% [markdown]\n"):
                text = start + "\n".join(f"# {one}" for one in header) + "\n\n# %%\nimport marimo\napp = marimo.App()\n"
                yield "x.py", text.encode()
                yield "x.ipynb", text.encode()
