"""Run the lab in Node.js, and the same actions on torch through the Python code that the lab prints."""

from __future__ import annotations

import json
import operator
import shutil
import subprocess
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import fx, nn

from press import ROOT

PAGE = ROOT / "fxbook" / "lab" / "page"
NODE = shutil.which("node")


class Player:
    """The scripts of a folder in a Node.js process."""

    def __init__(self, page: Path = PAGE) -> None:
        command = [NODE or "node", str(Path(__file__).with_name("play.mjs")), str(page)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, **question: Any) -> dict[str, Any]:
        """Send ``data`` or an ``action``, and return the new state."""
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        assert "crash" not in answer, (question, answer["crash"])
        return answer

    def close(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait()


def variables(module: fx.GraphModule, inputs: Mapping[str, torch.Tensor]) -> dict[str, Any]:
    """The variables that a lab's script needs in a notebook."""
    libraries = {"torch": torch, "nn": nn, "fx": fx, "operator": operator}
    nodes = {node.name: node for node in module.graph.nodes}
    return {**nodes, **libraries, "graph": module.graph, "module": module, "inputs": inputs}


def play(names: dict[str, Any], python: Mapping[str, str | None]) -> tuple[Any, list[str] | None]:
    """Run a line of the lab's script on torch; return its value, and its error as class and message."""
    lines = str(python["line"]).split("\n")
    source = "\n".join([str(python["head"]), *(f"    {line}" for line in lines)] if python.get("head") else lines)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            try:
                code = compile(source, "<lab>", "eval")
            except SyntaxError:
                code = compile(source, "<lab>", "exec")
            return eval(code, names), None
        except SyntaxError as error:
            return None, [type(error).__name__, str(error.msg)]
        except Exception as error:
            return None, [type(error).__name__, str(error)]


def same(lab: Any, real: Any) -> bool:
    """Whether a value in the lab equals torch's, up to rounding."""
    if isinstance(real, torch.Tensor):
        if not isinstance(lab, dict) or lab["shape"] != list(real.shape):
            return False
        # JSON has no nan or infinity: both are None.
        numbers = torch.tensor(
            [float("nan") if number is None else number for number in lab["data"]], dtype=torch.float64
        )
        wanted = real.detach().double().flatten()
        return torch.allclose(
            numbers, wanted.where(wanted.isfinite(), torch.nan), rtol=1e-9, atol=1e-12, equal_nan=True
        )
    if isinstance(real, tuple):
        return isinstance(lab, dict) and same(lab.get("tuple"), list(real))
    if isinstance(real, list):
        return isinstance(lab, list) and len(lab) == len(real) and all(map(same, lab, real))
    return lab == ({"float": real} if isinstance(real, float) else real)
