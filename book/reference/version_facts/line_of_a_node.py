"""The first line of `node.stack_trace` is the line of the model.

Before {since}, lines of torch.fx stood before it. Look for the file of your model among all lines there.
"""

from torch import fx, nn


class Half(nn.Module):
    def forward(self, x):
        return x / 2


tracer = fx.Tracer()
tracer.record_stack_traces = True
[*_, half, _] = tracer.trace(Half()).nodes
print(half.stack_trace.splitlines()[0].endswith("in forward"))
