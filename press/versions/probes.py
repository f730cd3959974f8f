"""Run every fact's probe on one version of torch, each in a fork of a process that has imported torch.

``probes.py PROBE …`` runs these programs and prints, as JSON, the last line that each prints. It imports only the
standard library and torch, since the environment may have nothing else.
"""

from __future__ import annotations

import contextlib
import io
import json
import multiprocessing
import subprocess
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path

_LONGEST = 300


def outputs(python: Path | str = sys.executable, paths: Iterable[Path] | None = None) -> dict[str, str]:
    """What the probes print with an interpreter, by fact id; if a probe raises, its error.

    Raises:
        RuntimeError: the interpreter has no torch.
    """
    from press import ROOT
    from press.printing.execution import without_addresses
    from press.versions.facts import read

    probes = [fact.path for fact in read().values()] if paths is None else list(paths)
    done = subprocess.run([str(python), __file__, *map(str, probes)], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"the probes did not run:\n{done.stderr}")
    printed = json.loads(done.stdout.splitlines()[-1])
    return {path.stem.replace("_", "-"): without_addresses(printed[str(path)])[:_LONGEST] for path in probes}


def _printed_by(path: str) -> str:
    source = Path(path).read_text(encoding="utf-8")
    written = io.StringIO()
    warnings.simplefilter("ignore")
    try:
        with contextlib.redirect_stdout(written), contextlib.redirect_stderr(io.StringIO()):
            # The future imports of this file must not apply to the probe.
            exec(compile(source, path, "exec", dont_inherit=True), {"__name__": "__main__"})
    except BaseException as error:
        lines = str(error).strip().splitlines()
        return f"{type(error).__name__}: {lines[0] if lines else ''}".rstrip(": ")
    lines = written.getvalue().strip().splitlines()
    return lines[-1] if lines else ""


if __name__ == "__main__":
    # Nothing must be imported from this script's folder.
    sys.path.pop(0)
    import torch.fx  # noqa: F401

    # A process for each probe, so that none affects the next.
    with multiprocessing.get_context("fork").Pool(2, maxtasksperchild=1) as pool:
        print(json.dumps(dict(zip(sys.argv[1:], pool.map(_printed_by, sys.argv[1:], chunksize=1), strict=True))))
