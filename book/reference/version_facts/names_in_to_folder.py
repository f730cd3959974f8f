r"""`to_folder` writes each module by `setattr`.

Before {since}, it wrote `self.0 = …` for a module whose name is a number, as those of an `nn.Sequential` are, and the
file could not be imported: a `SyntaxError`. Give each module a name there, as in `nn.Sequential(OrderedDict(up=…))`.

Explains:
    => SyntaxError: invalid syntax \(module\.py
    setattr\(self, 'up'
"""

import tempfile
from pathlib import Path

from torch import fx, nn

with tempfile.TemporaryDirectory() as folder:
    fx.symbolic_trace(nn.Sequential(nn.Linear(2, 2))).to_folder(folder, "Saved")
    print("yes" if "setattr" in (Path(folder) / "module.py").read_text() else "no")
