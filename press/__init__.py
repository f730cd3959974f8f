"""The press: from the manuscript to printed notebooks, to proof, to HTML. Run it with ``python -m press``."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# With this package, jsonschema compiles 38 grammars when it is imported, which takes more than a second of each process
# that reads a notebook, to check addresses that no notebook has. Without it, jsonschema leaves that check out.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
