"""`move_exported_model_to_eval` gives each batch norm an `eps` of 1e-05 and the shape from a pattern.

Expected: the batch norm changes to eval mode and keeps its other arguments; `meta["val"]` has the shape of its result.
What happens: the call is replaced with one from a pattern, whose `eps` and `momentum` are the defaults; `meta["val"]`
is the pattern's, with shape `[1, 1, 3, 3]`. A comment in the source names `eps` and `momentum` as still to be done.
Workaround: export the model twice, once after `model.eval()`.
Known as: pytorch/ao#4107
"""

import copy

import torch
from torch import fx, nn
from torchao.quantization.pt2e import move_exported_model_to_eval

from fxbook import check_pass

model = nn.Sequential(nn.BatchNorm2d(1, eps=1.0))
image = torch.full((2, 1, 4, 4), 2.0)
module: fx.GraphModule = torch.export.export(model, (image,)).module()
moved = move_exported_model_to_eval(copy.deepcopy(module))
assert moved(image).allclose(image) and not model.eval()(image).allclose(image)
(norm,) = (node for node in moved.graph.nodes if node.target is torch.ops.aten.batch_norm.default)
assert norm.args[-2] == 1e-5 and norm.meta["val"].shape == (1, 1, 3, 3)
print(check_pass(move_exported_model_to_eval, module, (image,), keep=["meta"]))
