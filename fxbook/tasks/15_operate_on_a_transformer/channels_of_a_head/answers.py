"""Answers to 15-channels-of-a-head: which channels of linear layers a head of attention uses."""

import torch
from torch import fx, nn

from fxbook.tasks.answering import breaks, right, wrong

sdpa = nn.functional.scaled_dot_product_attention


def layers_before(module, kind=nn.Linear):
    calls = module.graph.find_nodes(op="call_module")
    [attention] = module.graph.find_nodes(op="call_function", target=sdpa)
    return [node for node in calls if node < attention and isinstance(module.get_submodule(node.target), kind)]


class Changing(fx.Interpreter):
    """An Interpreter that changes the results of some nodes, and keeps all results."""

    def __init__(self, module, change):
        super().__init__(module)
        self.change, self.attended, self.results = change, None, {}

    def run_node(self, n):
        value = super().run_node(n)
        if n in self.change:
            value = self.change[n](value)
        if n.target is sdpa:
            self.attended = value
        self.results[n] = value
        return value


def attended(module, x, change=()):
    with torch.no_grad():
        changing = Changing(module, dict(change))
        changing.run(x)
    return changing.attended


def leaves_of(module, x):
    """The results of the linear layers before the attention, as leaves of autograd, and the attention's result."""
    layers = layers_before(module)

    def leaf(value):
        return value.detach().requires_grad_()

    with torch.enable_grad():
        changing = Changing(module, dict.fromkeys(layers, leaf))
        changing.run(x)
    return {node: changing.results[node] for node in layers}, changing.attended


def used(gradient):
    return [] if gradient is None else gradient.flatten(0, -2).ne(0).any(0).nonzero().flatten().tolist()


@right
def uses_autograd(module, x, head):
    leaves, result = leaves_of(module, x)
    with torch.enable_grad():
        total = (result[:, head] * torch.randn_like(result[:, head])).sum()
        gradients = torch.autograd.grad(total, list(leaves.values()), allow_unused=True)
    return {node.name: used(gradient) for node, gradient in zip(leaves, gradients, strict=True)}


@right
def retains_gradients(module, x, head):
    layers = layers_before(module)

    def retain(value):
        value.retain_grad()
        return value

    with torch.enable_grad():
        changing = Changing(module, dict.fromkeys(layers, retain))
        changing.run(x.clone().requires_grad_())
        loss = changing.attended[:, head].exp().sum()
        loss.backward(inputs=[changing.results[node] for node in layers])
    return {node.name: tuple(used(changing.results[node].grad)) for node in layers}


@right
def changes_all_channels_in_one_batch(module, x, head):
    found = {}
    for node, leaf in leaves_of(module, x)[0].items():
        count = leaf.shape[-1]
        rows = x[:1].expand(count, -1, -1)
        change = torch.diag(torch.full((count,), 10.0))[:, None]
        noise = change * torch.randn(1, x.shape[1], 1)
        before = attended(module, rows)[:, head]
        after = attended(module, rows, {node: lambda value, noise=noise: value + noise})[:, head]
        moved = (after - before).flatten(1).abs().amax(1) > 1e-6
        found[node.name] = moved.nonzero().flatten().tolist()
    return found


@right
def uses_hooks(module, x, head):
    layers, kept = layers_before(module), []

    def keep(layer, inputs, result):
        kept.append(result.detach().requires_grad_())
        return kept[-1]

    hooked = {module.get_submodule(node.target) for node in layers}
    handles = [layer.register_forward_hook(keep) for layer in hooked]
    with torch.enable_grad():
        changing = Changing(module, {})
        changing.run(x)
        changing.attended[:, head].pow(2).sum().backward(inputs=kept)
    for handle in handles:
        handle.remove()
    return {node.name: used(leaf.grad) for node, leaf in zip(layers, kept, strict=True)}


@breaks("Return a dict.", case="the attention of Llama")
@wrong("all_channels", says="The answer is not a dict with node names as keys")
def returns_the_lists(module, x, head):
    return list(uses_autograd(module, x, head).values())


@breaks("before the call to `sdpa`", case="the attention of Llama")
@wrong("all_channels", says="but does not call a linear layer before the attention")
def names_the_last_layer_too(module, x, head):
    found = uses_autograd(module, x, head)
    for node in module.graph.find_nodes(op="call_module"):
        found.setdefault(node.name, [])
    return found


@breaks("A layer that the head does not use has an empty list.", case="interleaved heads")
@wrong("all_channels", says="calls a linear layer before the attention, but is missing from the answer")
def leaves_out_unused_layers(module, x, head):
    return {name: channels for name, channels in uses_autograd(module, x, head).items() if channels}


@breaks("that call an `nn.Linear`", case="interleaved heads")
@wrong("all_channels", says="but does not call a linear layer before the attention")
def includes_layers_of_other_classes(module, x, head):
    found = uses_autograd(module, x, head)
    return {node.name: found.get(node.name, []) for node in layers_before(module, nn.Module)}


@breaks("Its keys are the names of the nodes before the call", case="one key for all heads")
@wrong("all_channels", says="node `both` calls a linear layer before the attention, but is missing from the answer")
def keeps_the_last_call_to_each_layer(module, x, head):
    found, last = uses_autograd(module, x, head), {}
    for node in layers_before(module):
        last[node.target] = node.name
    return {name: found[name] for name in last.values()}


@breaks("or an instance of a subclass", case="one key for all heads")
@wrong("all_channels", says="calls a linear layer before the attention, but is missing from the answer")
def overlooks_subclasses(module, x, head):
    found = uses_autograd(module, x, head)
    kinds = {node.name: type(module.get_submodule(node.target)) for node in layers_before(module)}
    return {name: channels for name, channels in found.items() if kinds[name] is nn.Linear}


@breaks("in increasing order,", case="the attention of GPT-2")
@wrong("all_channels", says="`first` has channels in the answer that are not in increasing order")
def sorts_by_the_channel_within_each_part(module, x, head):
    found = uses_autograd(module, x, head)
    return {name: sorted(channels, key=lambda channel: channel % x.shape[-1]) for name, channels in found.items()}


@breaks("the channels of this layer's result that affect the result of the given head.", case="interleaved heads")
@wrong("all_channels", says="in the answer, but the head does not use this channel")
def assumes_that_heads_are_consecutive(module, x, head):
    """If a layer has fewer heads than the query, consecutive heads of the query share one of its heads."""
    leaves, result = leaves_of(module, x)
    heads, width = result.shape[1], result.shape[-1]
    found = {}
    for node, leaf in leaves.items():
        own = head * min(heads, leaf.shape[-1] // width) // heads
        found[node.name] = [place for place in range(leaf.shape[-1]) if place // width % heads == own]
    return found


@breaks("A channel counts even if other heads also use it.", case="the attention of Llama")
@wrong("all_channels", says="in the answer, but the head uses this channel")
def leaves_out_channels_that_other_heads_use(module, x, head):
    own, heads = uses_autograd(module, x, head), leaves_of(module, x)[1].shape[1]
    for other in range(heads):
        if other != head:
            for name, channels in uses_autograd(module, x, other).items():
                own[name] = [channel for channel in own[name] if channel not in channels]
    return own


@breaks("Leave the module unchanged.", case="the attention of Llama")
@wrong("input_unchanged", says="weight")
def halves_the_weights(module, x, head):
    found = uses_autograd(module, x, head)
    for node in layers_before(module):
        module.get_submodule(node.target).weight.data.mul_(0.5)
    return found


@breaks("Leave the module unchanged.", case="interleaved heads")
@wrong("nothing_left", says="the weight `norm.weight` has a gradient")
def leaves_gradients_in_the_weights(module, x, head):
    leaves, result = leaves_of(module, x)
    result[:, head].square().sum().backward()
    return {node.name: used(leaf.grad) for node, leaf in leaves.items()}


@wrong("all_channels", says="node `bias` does not have channel")
def follows_only_query_key_and_value(module, x, head):
    [attention] = module.graph.find_nodes(op="call_function", target=sdpa)
    found, reached, waiting = uses_autograd(module, x, head), set(), list(attention.args[:3])
    while waiting:
        node = waiting.pop()
        if node.name not in reached:
            reached.add(node.name)
            waiting += node.all_input_nodes
    return {name: channels if name in reached else [] for name, channels in found.items()}
