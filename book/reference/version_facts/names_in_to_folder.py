r"""The file that `to_folder` writes assigns each module with `setattr`.

Before {since}, it contained `self.0 = …` for a module whose name is a number, as in an `nn.Sequential`, so importing it
raised a `SyntaxError`. On those versions, give each module a name, as in `nn.Sequential(OrderedDict(up=…))`.

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
