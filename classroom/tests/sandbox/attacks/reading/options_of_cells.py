"""Write into the mark of a cell options that are parsed as JSON, as Python or as a magic.

Harm: the parser runs them, never ends, or fails so that the file is lost.
"""

OPTIONS = (
    '{"a": ' * 5000,
    "[" * 100_000,
    "tags=__import__('os').system('touch /tmp/by-an-attack')",
    'a="' + "\\" * 200_000,
)
OPTIONS += (
    "active='py'",
    "language='bash'",
    "[raw]",
    "[markdown]",
    "%%bash",
    "cell_type='evil'",
    "a=" * 50_000,
    "(" * 50_000,
)
OPTIONS += (
    "{**x}",
    'slideshow={"slide_type": ' + "9" * 10_000 + "}",
    "lambda: 0",
    "\u202e",
    "a=1 a=2 " * 20_000,
    "id='\ud800'",
)


def handed_in():
    for option in OPTIONS:
        yield "x.py", f"# %% {option}\nx = 1\n\n# %% title {option}\ny = 2\n".encode("utf-8", "surrogatepass")
        yield (
            "x.py",
            f"#%%{option}\nx = 1\n# In[{option}]:\n# <codecell>\n# +\n# {option}\n".encode("utf-8", "surrogatepass"),
        )
