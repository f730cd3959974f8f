"""``python -m tests.architectures``: try each pass on each architecture, and record the results."""

from __future__ import annotations

import sys

import torch
import yaml

from press import ROOT
from press.pages.architectures import RECORD
from tests.architectures import zoo
from tests.architectures.tried import TRIALS


def main() -> None:
    torch.set_num_threads(1)
    record = {}
    for name in zoo.NAMES:
        record[name] = [trial.of(name) for trial in TRIALS]
        print(name, file=sys.stderr)
    content = {"passes": [trial.entry for trial in TRIALS], "architectures": record}
    (ROOT / RECORD).write_text(
        yaml.safe_dump(content, sort_keys=False, width=120, allow_unicode=True), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
