"""The press generates the notebooks from the manuscript, proves them and builds the HTML: ``python -m press``.

Its folders are named after a printer's work: ``printing`` generates the notebooks, and ``binding`` builds the HTML.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Block an optional import of jsonschema: it compiles 38 grammars for addresses, which no notebook contains, and would
# cost each process that reads a notebook more than a second.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
