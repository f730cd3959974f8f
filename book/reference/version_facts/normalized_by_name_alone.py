r"""`normalized_arguments` with `normalize_to_only_use_kwargs=True` leaves no positional arguments.

Before {since}, the option had no effect: arguments that the call passes by position stayed positional, and softmax gave
`args=(x,)`. On those versions, call `torch.fx.operator_schemas.normalize_function(node.target, node.args, node.kwargs,
normalize_to_only_use_kwargs=True)`.

Explains:
    ArgsKwargsPair\(args=\(\), .* => ArgsKwargsPair\(args=\(x
    06_kwargs.*\{'input': x.* => \{\}
    06_kwargs.*=> KeyError: 'input'
    raised: KeyError: 'training'
    \['_enter_autocast', 'state', '_exit_autocast', 'relu'\]
    ArgsKwargsPair\(args=\(\), kwargs={'input': x}\) =>
"""

from torch import fx, nn

traced = fx.symbolic_trace(lambda x: nn.functional.softmax(x, -1))
[call] = [node for node in traced.graph.nodes if node.op == "call_function"]
print(call.normalized_arguments(traced, normalize_to_only_use_kwargs=True).args)
