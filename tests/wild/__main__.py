"""``python -m tests.wild``: run the programs that show faults in other packages, and record their output."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import yaml

from press import ROOT
from press.pages.wild import RECORD
from tests.wild.programs import PACKAGES, interpreter, outputs, versions

_AT_A_TIME = 2


def main() -> None:
    python, said = interpreter(), {}
    with ThreadPoolExecutor(_AT_A_TIME) as pool:
        for package, programs in zip(PACKAGES, pool.map(lambda name: outputs(python, name), PACKAGES), strict=True):
            said |= programs
            print(package, file=sys.stderr)
    text = yaml.safe_dump({"versions": versions(), "said": said}, sort_keys=False, width=120, allow_unicode=True)
    (ROOT / RECORD).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
