r"""The first line of `node.stack_trace` is a line in the outermost `forward`.

This holds for graphs from a `Tracer`. Before {since}, it came after lines of the tracing program, of a notebook and of
torch.fx. On those versions, look for the lines that end with `in forward`.

Explains:
    (01_node_creation|08_boxed_run|17_ship_a_pass).*(return|mixed) .* => (self\.io_loop|serve|\['return super\(\))
"""

from torch import fx, nn


class Half(nn.Module):
    def forward(self, x):
        return x / 2


tracer = fx.Tracer()
tracer.record_stack_traces = True
[*_, half, _] = tracer.trace(Half()).nodes
print("yes" if half.stack_trace.splitlines()[0].endswith("in forward") else "no")
