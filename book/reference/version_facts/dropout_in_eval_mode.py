"""AOTAutograd records a `clone` for dropout in eval mode.

From {later} on, it does not record anything for this dropout.
"""

import torch
from torch import fx, nn
from torch._dynamo.backends.common import aot_autograd

names = []


def keep(module, example_inputs):
    names.extend(node.name for node in module.graph.nodes if node.op == "call_function")

    def run(box):
        return fx.Interpreter(module).boxed_run(box)

    run._boxed_call = True
    return run


model = nn.Sequential(nn.Linear(2, 2), nn.Dropout()).eval()
torch.compile(model, backend=aot_autograd(fw_compiler=keep))(torch.ones(1, 2))
print("yes" if "clone" in names else "no")
