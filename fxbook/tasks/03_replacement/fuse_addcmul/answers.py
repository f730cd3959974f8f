"""Answers to 03-fuse-addcmul: a sum that alone reads a product becomes one addcmul."""

import copy
import operator

import torch
from torch import fx
from torch.fx import subgraph_rewriter

from fxbook.tasks.answering import breaks, right, wrong


def additions(traced):
    return traced.graph.find_nodes(op="call_function", target=operator.add)


def is_product(value, reader):
    if not isinstance(value, fx.Node) or value.target is not operator.mul:
        return False
    return set(value.users) == {reader} and all(isinstance(side, fx.Node) for side in value.args)


def fuse(traced, addition, product, other):
    with traced.graph.inserting_before(addition):
        fused = traced.graph.call_function(torch.addcmul, (other, *product.args))
    addition.replace_all_uses_with(fused)
    traced.graph.erase_node(addition)
    traced.graph.erase_node(product)


# ---- right -----------------------------------------------------------------------------------------------------------


@right
def starts_from_the_product(traced):
    for product in traced.graph.find_nodes(op="call_function", target=operator.mul):
        if len(product.users) != 1 or not all(isinstance(side, fx.Node) for side in product.args):
            continue
        [addition] = product.users
        others = [side for side in addition.args if side is not product]
        if addition.target is operator.add and len(others) == 1 and isinstance(others[0], fx.Node):
            fuse(traced, addition, product, others[0])
    traced.graph.lint()
    traced.recompile()


@right
def changes_the_addition_itself(traced):
    """The node of the addition stays, with another target and other arguments; the products go as dead code."""
    for addition in additions(traced):
        for product, other in (addition.args, addition.args[::-1]):
            if is_product(product, addition) and isinstance(other, fx.Node) and other is not product:
                addition.target, addition.args = torch.addcmul, (other, *product.args)
                break
    traced.graph.eliminate_dead_code()
    traced.recompile()
    return traced


@right
def replaces_four_patterns(traced):
    """One for each side of the product, and for a square on each side; what is read elsewhere is no match."""

    def fits(match, original, pattern):
        [addition] = match.returning_nodes
        return len(addition.all_input_nodes) == 2 and all(isinstance(n, fx.Node) for n in match.placeholder_nodes)

    def replace(pattern, replacement):
        subgraph_rewriter.replace_pattern_with_filters(traced, pattern, replacement, [fits])

    replace(lambda a, b, c: a * b + c, lambda a, b, c: torch.addcmul(c, a, b))
    replace(lambda a, b, c: c + a * b, lambda a, b, c: torch.addcmul(c, a, b))
    replace(lambda a, c: a * a + c, lambda a, c: torch.addcmul(c, a, a))
    replace(lambda a, c: c + a * a, lambda a, c: torch.addcmul(c, a, a))
    traced.recompile()


@right
def lists_the_pairs_first(traced):
    """What is fused is decided before anything changes, but for a product that two would take."""
    pairs = {}
    for product in traced.graph.nodes:
        for addition in product.users:
            fits = addition.target is operator.add and is_product(product, addition)
            if fits and len(addition.all_input_nodes) == 2:
                pairs[addition] = product
    for addition, product in pairs.items():
        [other] = [node for node in addition.all_input_nodes if node is not product]
        with traced.graph.inserting_before(addition):
            fused = traced.graph.create_node("call_method", "addcmul", (other, *product.args))
        addition.replace_all_uses_with(fused)
        traced.graph.erase_node(addition)
        traced.graph.erase_node(product)
    traced.graph.lint()
    traced.recompile()


# ---- wrong -----------------------------------------------------------------------------------------------------------

THREE_STEPS = "03_replacement#three-steps-in-this-order"


@breaks(
    "a product of `operator.mul`, on either side", case="products on the left and on the right, some with two users"
)
@wrong("products_fused", node="add", says="still adds a product that nothing else reads")
def looks_at_the_left_side_only(traced):
    for addition in additions(traced):
        left, other = addition.args
        if is_product(left, addition) and left is not other and isinstance(other, fx.Node):
            fuse(traced, addition, left, other)
    traced.recompile()


@breaks(
    "and `c` must be nodes, since `addcmul` takes tensors.",
    case="products on the left and on the right, some with two users",
)
@wrong("products_fused", says="was replaced: it adds a number to `mul_12`")
def does_not_ask_whether_the_other_side_is_a_node(traced):
    for addition in additions(traced):
        left, right_side = addition.args
        for product, other in ((left, right_side), (right_side, left)):
            if is_product(product, addition) and left is not right_side:
                fuse(traced, addition, product, other)
                break
    traced.recompile()


@breaks(
    "If both sides are such products, fuse one of them.",
    case="products on the left and on the right, some with two users",
)
@wrong("products_fused", node="add_5", says="still adds a product that nothing else reads")
def leaves_a_sum_of_two_products(traced):
    for addition in additions(traced):
        for product, other in (addition.args, addition.args[::-1]):
            fits = is_product(product, addition) and isinstance(other, fx.Node) and product is not other
            if fits and other.target is not operator.mul:
                fuse(traced, addition, product, other)
                break
    traced.recompile()


@breaks(
    "In `p + p` there is no `c`:",
    "leave it as it is.",
    case="products on the left and on the right, some with two users",
)
@wrong("products_fused", says="was replaced: it adds `mul_2` to itself")
def fuses_a_product_with_itself(traced):
    for addition in additions(traced):
        left, right_side = addition.args
        for product, other in ((left, right_side), (right_side, left)):
            if is_product(product, addition) and isinstance(other, fx.Node):
                addition.target, addition.args = torch.addcmul, (other, *product.args)
                break
    traced.graph.eliminate_dead_code()
    traced.recompile()


@breaks(
    "if the addition is the only user of the product.",
    case="products on the left and on the right, some with two users",
)
@wrong("products_fused", says="which has 2 users")
def fuses_products_that_others_read(traced):
    for addition in additions(traced):
        for product, other in (addition.args, addition.args[::-1]):
            if not isinstance(product, fx.Node) or not isinstance(other, fx.Node) or product is other:
                continue
            if product.target is operator.mul and all(isinstance(side, fx.Node) for side in product.args):
                addition.target, addition.args = torch.addcmul, (other, *product.args)
                break
    traced.graph.eliminate_dead_code()
    traced.recompile()


@breaks("`a`, `b` and `c` must be nodes", case="products on the left and on the right, some with two users")
@wrong("products_fused", says="a product with a number")
def fuses_products_with_a_number(traced):
    for addition in additions(traced):
        for product, other in (addition.args, addition.args[::-1]):
            if not isinstance(product, fx.Node) or not isinstance(other, fx.Node) or product is other:
                continue
            if product.target is operator.mul and len(product.users) == 1:
                fuse(traced, addition, product, other)
                break
    traced.recompile()


@breaks("every `operator.add` that adds", case="products on the left and on the right, some with two users")
@wrong("products_fused", says="`sub` is gone, and was to stay")
def fuses_whatever_alone_reads_a_product(traced):
    """Nobody asks whether it is an addition."""
    for product in traced.graph.find_nodes(op="call_function", target=operator.mul):
        if len(product.users) == 1 and all(isinstance(side, fx.Node) for side in product.args):
            [reader] = product.users
            others = [side for side in reader.all_input_nodes if side is not product]
            if len(others) == 1 and len(reader.args) == 2:
                fuse(traced, reader, product, others[0])
    traced.recompile()


@breaks("of `operator.mul`", case="products on the left and on the right, some with two users")
@wrong("products_fused", says="was replaced: it adds no product of `operator.mul`")
def takes_each_call_named_mul(traced):
    """The function, the method, and the product of matrices."""
    for addition in additions(traced):
        for product, other in (addition.args, addition.args[::-1]):
            if product is other or "mul" not in str(getattr(product, "target", "")) or len(product.users) > 1:
                continue
            if all(isinstance(side, fx.Node) for side in (*product.args, other)):
                fuse(traced, addition, product, other)
                break
    traced.recompile()


@wrong("factors_kept", node="add", says="multiplies `scale` and `shift`, which the model does not")
def passes_the_product_first(traced):
    for addition in additions(traced):
        for product, other in (addition.args, addition.args[::-1]):
            if is_product(product, addition) and isinstance(other, fx.Node) and product is not other:
                addition.target, addition.args = torch.addcmul, (*product.args, other)
                break
    traced.graph.eliminate_dead_code()
    traced.recompile()


@wrong("nothing_dead", node="mul", says="is left: no node uses its result", read=THREE_STEPS)
def leaves_the_product(traced):
    for addition in additions(traced):
        for product, other in (addition.args, addition.args[::-1]):
            if is_product(product, addition) and isinstance(other, fx.Node) and product is not other:
                addition.target, addition.args = torch.addcmul, (other, *product.args)
                break
    traced.recompile()


@wrong(
    "ends well",
    says="Tried to erase Node mul but it still had 1 users",
    read="03_replacement#runtimeerror-tried-to-erase-node-act-but-it-still-had-2-users-in-the-graph-",
)
def erases_the_product_first(traced):
    for addition in additions(traced):
        for product, other in (addition.args, addition.args[::-1]):
            if is_product(product, addition) and isinstance(other, fx.Node) and product is not other:
                with traced.graph.inserting_before(addition):
                    fused = traced.graph.call_function(torch.addcmul, (other, *product.args))
                addition.replace_all_uses_with(fused)
                traced.graph.erase_node(product)
                traced.graph.erase_node(addition)
                break
    traced.recompile()


@wrong(
    "arguments_kept",
    node="addcmul",
    says="is passed None where it needs a node",
    read="03_replacement#typeerror-gelu-argument-input-position-1-must-be-tensor-not-nonetype",
)
def takes_the_arguments_after_erasing(traced):
    for addition in additions(traced):
        for product, other in (addition.args, addition.args[::-1]):
            if is_product(product, addition) and isinstance(other, fx.Node) and product is not other:
                with traced.graph.inserting_before(addition):
                    fused = traced.graph.call_function(torch.addcmul, (other,))
                addition.replace_all_uses_with(fused)
                traced.graph.erase_node(addition)
                traced.graph.erase_node(product)
                fused.args = (other, *product.args)
                break
    traced.recompile()


@wrong("lints", node="addcmul", says="before it is defined", read="02_insertion_points#two-nodes-one-anchor")
def makes_it_before_the_product(traced):
    for addition in additions(traced):
        for product, other in (addition.args, addition.args[::-1]):
            if is_product(product, addition) and isinstance(other, fx.Node) and product is not other:
                with traced.graph.inserting_before(product):
                    fused = traced.graph.call_function(torch.addcmul, (other, *product.args))
                addition.replace_all_uses_with(fused)
                traced.graph.erase_node(addition)
                traced.graph.erase_node(product)
                break
    traced.recompile()


@breaks("Replace every `operator.add`", case="a scale and a shift")
@wrong("products_fused", node="add", says="still adds a product that nothing else reads")
def looks_for_torch_mul(traced):
    for addition in traced.graph.find_nodes(op="call_function", target=torch.add):
        left, right_side = addition.args
        if left.target is torch.mul:
            fuse(traced, addition, left, right_side)
    traced.recompile()


@wrong("recompiled", says="the compiled code is stale", read="00_first_graph#change-one-node")
def forgets_to_recompile(traced):
    for addition in additions(traced):
        for product, other in (addition.args, addition.args[::-1]):
            if is_product(product, addition) and isinstance(other, fx.Node) and product is not other:
                fuse(traced, addition, product, other)
                break


@breaks("Edit the model in place.", case="a scale and a shift")
@wrong("given_edited", says="You edited a copy")
def edits_a_copy(traced):
    traced = copy.deepcopy(traced)
    changes_the_addition_itself(traced)
    return traced


@wrong("edited", says="it was traced or built anew")
def edits_a_new_trace(traced):
    return changes_the_addition_itself(fx.symbolic_trace(traced))


@wrong("same_result", node="add", says="The result is not the one asked for")
def takes_the_left_side_for_what_is_added(traced):
    """Where the product stands on the left, it is added to itself."""
    for addition in additions(traced):
        for product, other in (addition.args, addition.args[::-1]):
            if is_product(product, addition) and isinstance(other, fx.Node) and product is not other:
                addition.target, addition.args = torch.addcmul, (addition.args[0], *product.args)
                break
    traced.graph.eliminate_dead_code()
    traced.recompile()
