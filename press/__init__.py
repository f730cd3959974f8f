"""The press: from the manuscript to printed notebooks, to proof, to HTML. Run it with ``python -m press``."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
