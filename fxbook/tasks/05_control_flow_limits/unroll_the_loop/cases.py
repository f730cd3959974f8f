"""The classifier of the chapter, which takes more rounds on some batches than on others."""

from __future__ import annotations

from fxbook.cases import Usage

from ..cases import BATCHES, made_and_watched

USAGE = Usage("pass", cases=BATCHES, call=made_and_watched)
