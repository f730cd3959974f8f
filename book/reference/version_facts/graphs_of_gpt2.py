r"""`torch.compile` records this book's small GPT-2, with two layers, as one graph of 135 nodes.

On 2.6, it fails: see the note on `torch.compiler.is_exporting`. On 2.7 and 2.8, it makes several graphs. From 2.9 on,
it makes one graph, which has ten more nodes up to 2.11. Where a page has a smaller model, its number of nodes differs
too. The counts are for the pinned transformers.

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
