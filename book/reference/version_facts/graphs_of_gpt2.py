r"""`torch.compile` records this book's small GPT-2, with two layers, as one graph of 135 nodes.

On 2.6, it fails, because transformers calls `torch.compiler.is_exporting`, which 2.6 does not have. On 2.7 and 2.8, it
makes several graphs. From 2.9 on, it makes one graph: of 145 nodes up to 2.11, of 135 nodes later. A model of another
size has other counts. All counts are for the version of transformers that this book installs.

Explains:
    1 77 True => \d
    gpt2 .*77 => gpt2
    Counter\(\{'call_function': 61.* => Counter
    2 matches in 135 nodes
    L_kwargs_input_ids_ => an input - L_
    12_patterns.* => ValueError: too many values to unpack \(expected 1\)
"""

import torch

from fxbook.models import small

sizes = []


def keep(module, example_inputs):
    sizes.append(len(module.graph.nodes))
    return module


gpt2, inputs = small("gpt2")
try:
    torch.compile(gpt2, backend=keep)(**inputs)
    print(f"graphs: {len(sizes)}, nodes: {sum(sizes)}")
except Exception as error:
    print(type(error).__name__)
