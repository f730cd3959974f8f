"""The press generates the notebooks from the manuscript, proves them and builds the HTML: ``python -m press``."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# This blocks an optional import in jsonschema, which compiles 38 grammars to check addresses that no notebook has. It
# would take more than a second in each process that reads a notebook.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
