"""Write YAML into a header that doubles itself, names Python's objects or never ends.

Harm: the reader has no memory left, or makes an object that runs code.
"""

TAGS = (
    "!!python/object/apply:os.system ['touch /tmp/by-an-attack']",
    "!!python/name:os.system",
    "&a [*a]",
    "{*a : *a}",
)
TAGS += ("!!binary '" + "A" * 1_000_000, "[" * 50_000, "0x" + "f" * 100_000, "2001-99-99", "1e" + "9" * 1000, "? ? ? ?")


def handed_in():
    bomb = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    bomb += [f"{chr(b)}: &{chr(b)} [{', '.join(['*' + chr(b - 1)] * 9)}]" for b in range(98, 112)]
    for lines in (bomb, *([f"x: {tag}"] for tag in TAGS)):
        header = ["---", "jupyter:", *(f"  {line}" for line in lines), *lines, "---"]
        yield "x.py", ("\n".join(f"# {line}" for line in header) + "\n\n# %%\nx = 1\n").encode()
        yield "x.ipynb", "\n".join(header).encode()
