"""``python -m tests.passes.tried``: try each pass on random graphs, and record the results."""

from __future__ import annotations

import sys
from typing import Any

import torch
import yaml

from press import ROOT
from press.pages.random_graphs import RECORD
from tests.passes.tried import drawn, faults
from tests.passes.tried.chapters import TRIALS


def record() -> dict[str, Any]:
    passes = []
    for trial in TRIALS:
        passes.append(trial.entry | drawn.counted(trial))
        print(trial.chapter, trial.name, file=sys.stderr)
    wrong = []
    for fault in faults.FAULTS:
        wrong.append(fault.entry | ({} if fault.limits is None else {"broken": fault.broken()}))
        print(fault.name, file=sys.stderr)
    return {"graphs": drawn.EXAMPLES, "passes": passes, "graphs_for_torch": faults.GRAPHS, "torch": wrong}


if __name__ == "__main__":
    torch.set_num_threads(1)
    text = yaml.safe_dump(record(), sort_keys=False, width=120, allow_unicode=True)
    (ROOT / RECORD).write_text(text, encoding="utf-8")
