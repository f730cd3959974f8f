"""Claim errors, problems and replaced names of every form, with cases that are right or missing.

Harm: an error that is told in an odd way counts as none.
"""

from classroom.tests.sandbox.forging import with_claims

FORMS = (
    {},
    {"type": "TimeUp", "loading": True},
    {"type": "", "message": "", "line": "", "number": 0, "loading": True},
    [],
    "x",
    0,
)
FORMS += (
    {"type": "TimeUp", "message": "x", "line": None, "number": None, "loading": True},
    {"type": "TimeUp", "message": "x", "line": None, "loading": True, "own": True},
    {"type": "AttributeError", "message": "x", "line": "x", "loading": False, "own": True},
    {"type": None},
    False,
    [[]],
    10**300,
)


def forged(observation):
    for form in FORMS:
        for cases in (observation["cases"], observation["cases"][:1], []):
            yield {**observation, "error": form, "cases": cases}
            yield {**observation, "error": form, "replaced": ["torch.add"], "cases": cases}
            yield {**observation, "problem": form, "cases": cases}
            yield {**observation, "replaced": form, "cases": cases}
        yield with_claims(observation, run_error=form, outputs=None)
