"""``python -m tests.wild``: run the programs that show a fault of another package, and record what they print."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import yaml

from press import ROOT
from press.pages.wild import RECORD
from tests.wild.programs import PROGRAMS, interpreter, said, versions

_AT_A_TIME = 2


def main() -> None:
    python = interpreter()

    def told(program: str) -> str:
        text = said(python, program)
        print(program, file=sys.stderr)
        return text

    with ThreadPoolExecutor(_AT_A_TIME) as pool:
        record = {"versions": versions(), "said": dict(zip(PROGRAMS, pool.map(told, PROGRAMS), strict=True))}
    text = yaml.safe_dump(record, sort_keys=False, width=120, allow_unicode=True)
    (ROOT / RECORD).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
