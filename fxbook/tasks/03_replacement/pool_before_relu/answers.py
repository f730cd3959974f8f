"""Answers to 03-pool-before-relu."""

import copy

from torch import fx, nn

from fxbook.tasks.answering import breaks, right, wrong

NONE = "03_replacement#typeerror-gelu-argument-input-position-1-must-be-tensor-not-nonetype"
NO_ANCHOR = "02_insertion_points#a-node-made-without-an-anchor"


def calls(traced, node, kind):
    return node.op == "call_module" and isinstance(traced.get_submodule(node.target), kind)


def swappable(traced):
    """Each ReLU whose only user is a pool, with that pool."""
    for relu in list(traced.graph.nodes):
        if calls(traced, relu, nn.ReLU) and len(relu.users) == 1:
            [pool] = relu.users
            if calls(traced, pool, nn.MaxPool2d):
                yield relu, pool


def swap(relu, pool):
    [value] = relu.args
    pool.replace_all_uses_with(relu)
    pool.args, relu.args = (value,), (pool,)
    pool.append(relu)


@right
def exchanges_the_targets(traced):
    for relu, pool in swappable(traced):
        relu.target, pool.target = pool.target, relu.target
    traced.recompile()
    return traced


@right
def makes_two_new_nodes(traced):
    graph = traced.graph
    for relu, pool in swappable(traced):
        with graph.inserting_before(relu):
            pooled = graph.node_copy(pool, lambda _, relu=relu: relu.args[0])
            active = graph.call_module(relu.target, (pooled,))
        pool.replace_all_uses_with(active)
        graph.erase_node(pool)
        graph.erase_node(relu)
    graph.lint()
    traced.recompile()


@right
def edits_a_copy_of_the_graph_and_assigns_it(traced):
    draft = copy.deepcopy(traced.graph)
    for pool in list(draft.nodes):
        relu = pool.args[0] if calls(traced, pool, nn.MaxPool2d) else None
        if relu is not None and calls(traced, relu, nn.ReLU) and list(relu.users) == [pool]:
            pool.replace_all_uses_with(relu)
            pool.args, relu.args = relu.args, (pool,)
            relu.prepend(pool)
    traced.graph = draft
    traced.graph.lint()


@right
def calls_proxies_of_the_modules(traced):
    graph = traced.graph
    tracer = fx.proxy.GraphAppendingTracer(graph)
    for relu, pool in list(swappable(traced)):
        with graph.inserting_before(relu):
            value = fx.Proxy(relu.args[0], tracer)
            pooled = tracer.create_proxy("call_module", pool.target, (value,), {})
            active = tracer.create_proxy("call_module", relu.target, (pooled,), {})
        pool.replace_all_uses_with(active.node)
        graph.erase_node(pool)
        graph.erase_node(relu)
    traced.recompile()


THREE_STEPS = "03_replacement#three-steps-in-this-order"


@wrong("lints", node="pool", says="before it is defined", read="02_insertion_points#two-nodes-one-anchor")
def moves_without_rewiring(traced):
    for relu, pool in swappable(traced):
        pool.append(relu)
    traced.recompile()


@breaks("and the ReLU uses the pool.", case="convolution, ReLU, pool")
@wrong("swapped_only", node="output", says="uses `pool`, but should use `relu`")
def forgets_the_users_of_the_pool(traced):
    for relu, pool in swappable(traced):
        [value] = relu.args
        pool.args, relu.args = (value,), (pool,)
        pool.append(relu)
    traced.recompile()


@breaks("Leave every other pool", case="shared modules, a ReLU with two users")
@wrong("swapped_only", node="step_19", says="`step_18` is not an nn.ReLU")
def swaps_the_pool_with_any_input(traced):
    for pool in list(traced.graph.nodes):
        if calls(traced, pool, nn.MaxPool2d):
            [other] = pool.all_input_nodes
            if other.op == "call_module" and len(other.users) == 1:
                swap(other, pool)
    traced.recompile()


@breaks("is the only user of an `nn.ReLU`", case="shared modules, a ReLU with two users")
@wrong("swapped_only", node="step_148", says="`step_147` has 2 users")
def swaps_a_relu_with_two_pools(traced):
    for pool in list(traced.graph.nodes):
        if calls(traced, pool, nn.MaxPool2d):
            [relu] = pool.all_input_nodes
            if calls(traced, relu, nn.ReLU) and all(calls(traced, user, nn.MaxPool2d) for user in relu.users):
                swap(relu, pool)
    traced.recompile()


@breaks("wherever an `nn.MaxPool2d`", case="shared modules, a ReLU with two users")
@wrong("pools_before_relus", node="step_2", says="still pools the result of `step_0`")
def swaps_only_after_a_convolution(traced):
    for relu, pool in list(swappable(traced)):
        if calls(traced, relu.args[0], nn.Conv2d):
            swap(relu, pool)
    traced.recompile()


@wrong("others_left", node="step_38", says="calls torch.nn.PReLU, which is not an nn.ReLU")
def recognises_a_relu_by_its_class_name(traced):
    for pool in list(traced.graph.nodes):
        if calls(traced, pool, nn.MaxPool2d):
            [other] = pool.all_input_nodes
            called = traced.get_submodule(other.target) if other.op == "call_module" else None
            if "ReLU" in repr(called) and len(other.users) == 1:
                other.target, pool.target = pool.target, other.target
    traced.recompile()


@wrong("recompiled", says="the compiled code is stale", read="00_first_graph#change-one-node")
def forgets_to_recompile(traced):
    for relu, pool in swappable(traced):
        relu.target, pool.target = pool.target, relu.target


@wrong("no_dead_nodes", node="relu", says="is dead: no node uses its result", read=THREE_STEPS)
def leaves_the_old_relu(traced):
    graph = traced.graph
    for relu, pool in swappable(traced):
        with graph.inserting_before(relu):
            pooled = graph.call_module(pool.target, relu.args)
            active = graph.call_module(relu.target, (pooled,))
        pool.replace_all_uses_with(active)
        graph.erase_node(pool)
    traced.recompile()


@breaks("Swap the two nodes in place", case="convolution, ReLU, pool")
@wrong("given_edited", says="You edited a copy")
def edits_a_copy(traced):
    traced = copy.deepcopy(traced)
    exchanges_the_targets(traced)
    return traced


@wrong("edited", says="it was traced or built again")
def edits_a_new_trace(traced):
    again = fx.symbolic_trace(traced)
    exchanges_the_targets(again)
    return again


@wrong("same_output", node="output", says="The result is not the one asked for")
def exchanges_the_targets_one_after_the_other(traced):
    for relu, pool in swappable(traced):
        relu.target = pool.target
        pool.target = relu.target
    traced.recompile()


@wrong("arguments_kept", node="pool_1", says="is passed None where it needs a node", read=NONE)
def erases_before_it_reads_the_arguments(traced):
    graph = traced.graph
    for relu, pool in swappable(traced):
        with graph.inserting_before(relu):
            pooled = graph.call_module(pool.target)
            active = graph.call_module(relu.target, (pooled,))
        pool.replace_all_uses_with(active)
        graph.erase_node(pool)
        graph.erase_node(relu)
        pooled.args = relu.args
    traced.recompile()


@wrong("output_last", node="pool_1", says="is after `output`: it never runs", read=NO_ANCHOR)
def makes_two_nodes_without_an_anchor(traced):
    """The nodes have neither an anchor nor users."""
    for relu, pool in swappable(traced):
        pooled = traced.graph.call_module(pool.target, relu.args)
        traced.graph.call_module(relu.target, (pooled,))
    traced.recompile()
