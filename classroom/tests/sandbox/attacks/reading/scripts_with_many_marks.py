"""Begin a cell in each line, never end a text, and mix all marks of all formats.

Harm: the reader takes all time or memory.
"""


def handed_in():
    yield "x.py", b"# %%\n" * 200_000
    yield "x.py", b"# %%\nx = 1\n" * 100_000
    yield "x.py", b'"""\n' + b"# %%\n" * 200_000
    yield "x.py", b"# %% [markdown]\n# ```\n" * 50_000
    yield "x.py", b"# " + b"#" * 2_000_000
    yield "x.py", b"%" * 2_000_000
    yield "x.py", (b" " * 10_000 + b"!\n") * 200
    yield "x.py", b"# format_name: light\n" + b"# +\n" * 100_000
    yield "x.py", b"# format_name: light\n" + b"def f():\n\n    x = 1\n\n\n" * 20_000
    yield "x.py", b"x = (\n" * 50_000
