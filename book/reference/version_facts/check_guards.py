"""`ExportedProgram.module` has the option `check_guards`.

Before {since}, there is no such option, and `module(check_guards=False)` raises a `TypeError`. No node guards the
inputs on those versions, so `module()` gives the same graph.

Explains:
    got an unexpected keyword argument 'check_guards'
"""

import inspect

import torch

print("yes" if "check_guards" in inspect.signature(torch.export.ExportedProgram.module).parameters else "no")
