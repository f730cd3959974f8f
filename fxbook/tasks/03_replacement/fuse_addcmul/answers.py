"""Answers to 03-fuse-addcmul."""

import copy
import operator

import torch
from torch import fx

from fxbook.tasks.answering import breaks, right, wrong

NONE = "03_replacement#typeerror-gelu-argument-input-position-1-must-be-tensor-not-nonetype"


def additions(traced):
    return traced.graph.find_nodes(op="call_function", target=operator.add)


def is_product(value, user):
    if not isinstance(value, fx.Node) or value.target is not operator.mul:
        return False
    return set(value.users) == {user} and all(isinstance(side, fx.Node) for side in value.args)


def pairs(traced, fits=is_product, apart=True):
    """Each addition to fuse, with the product that it adds and its other operand."""
    for addition in additions(traced):
        for product, other in (addition.args, addition.args[::-1]):
            nodes = isinstance(product, fx.Node) and isinstance(other, fx.Node)
            if nodes and fits(product, addition) and not (apart and product is other):
                yield addition, product, other
                break


def change(traced, args_of=lambda addition, product, other: (other, *product.args), clean=True, **which):
    """Let each addition to fuse call addcmul."""
    for addition, product, other in pairs(traced, **which):
        addition.target, addition.args = torch.addcmul, args_of(addition, product, other)
    if clean:
        traced.graph.eliminate_dead_code()
    traced.recompile()


def fuse(traced, addition, product, other, anchor=None, late=False):
    with traced.graph.inserting_before(anchor or addition):
        fused = traced.graph.call_function(torch.addcmul, (other,) if late else (other, *product.args))
    addition.replace_all_uses_with(fused)
    traced.graph.erase_node(addition)
    traced.graph.erase_node(product)
    if late:
        fused.args = (other, *product.args)


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
    change(traced)
    return traced


class _Fusing(fx.Transformer):
    def __init__(self, traced):
        super().__init__(traced)
        self.garbage_collect_values = False  # A product that is skipped is the last user of its factors.
        self.fused = {addition: (product, other) for addition, product, other in pairs(traced)}
        self.skipped = {product for product, _ in self.fused.values()}

    def run_node(self, node):
        if node in self.skipped:
            return None
        if node not in self.fused:
            return super().run_node(node)
        product, other = self.fused[node]
        return torch.addcmul(*(self.env[value] for value in (other, *product.args)))


@right
def takes_the_graph_of_a_transformer(traced):
    traced.graph = _Fusing(traced).transform().graph


@right
def lists_the_pairs_first(traced):
    """By the time it is fused, an addition may have a new operand, so its operands are looked up again."""
    for addition, product, _ in list(pairs(traced)):
        [other] = [node for node in addition.all_input_nodes if node is not product]
        with traced.graph.inserting_before(addition):
            fused = traced.graph.create_node("call_method", "addcmul", (other, *product.args))
        addition.replace_all_uses_with(fused)
        traced.graph.erase_node(addition)
        traced.graph.erase_node(product)
    traced.graph.lint()
    traced.recompile()


MIXED = "products on the left and on the right, some with two users"


@breaks("If both sides are such products, fuse one of them.", case=MIXED)
@wrong("products_fused", node="add_4", says="still adds a product that has no other user")
def skips_sums_of_two_products(traced):
    for addition, product, other in pairs(traced):
        if other.target is not operator.mul:
            fuse(traced, addition, product, other)
    traced.recompile()


@breaks("In `p + p` there is no `c`:", "leave it as it is.", case=MIXED)
@wrong("products_fused", says="was replaced, although it adds `mul_3` to itself")
def fuses_a_product_with_itself(traced):
    change(traced, apart=False)


def multiplies_nodes(product, addition):
    return product.target is operator.mul and all(isinstance(side, fx.Node) for side in product.args)


@breaks("if the addition is the only user of the product.", case=MIXED)
@wrong("products_fused", says="which has 2 users")
def fuses_products_with_other_users(traced):
    change(traced, fits=multiplies_nodes)


@breaks("`a`, `b` and `c` must be nodes", case=MIXED)
@wrong("products_fused", says="a product with a number")
def fuses_products_with_a_number(traced):
    change(traced, fits=lambda product, addition: product.target is operator.mul and len(product.users) == 1)


@wrong("factors_kept", node="add", says="multiplies `scale` and `shift`, which the model does not")
def passes_the_product_first(traced):
    change(traced, lambda addition, product, other: (*product.args, other))


@wrong("no_dead_nodes", node="mul", says="no node uses its result", read="03_replacement#three-steps-in-this-order")
def leaves_the_product(traced):
    change(traced, clean=False)


@wrong("arguments_kept", node="addcmul", says="is passed None where it needs a node", read=NONE)
def reads_the_arguments_after_erasing(traced):
    for addition, product, other in pairs(traced):
        fuse(traced, addition, product, other, late=True)
    traced.recompile()


@wrong("lints", node="addcmul", says="before it is defined", read="02_insertion_points#two-nodes-one-anchor")
def inserts_addcmul_before_the_product(traced):
    for addition, product, other in pairs(traced):
        fuse(traced, addition, product, other, anchor=product)
    traced.recompile()


@wrong("recompiled", says="the compiled code is stale", read="00_first_graph#change-one-node")
def forgets_to_recompile(traced):
    for addition, product, other in pairs(traced):
        fuse(traced, addition, product, other)


@breaks("Edit the model in place.", case="a scale and a shift")
@wrong("given_edited", says="You edited a copy")
def edits_a_copy(traced):
    traced = copy.deepcopy(traced)
    change(traced)
    return traced


@wrong("edited", says="it was traced or built again")
def edits_a_new_trace(traced):
    return changes_the_addition_itself(fx.symbolic_trace(traced))


@wrong("same_result", node="add", says="The result is not the one asked for")
def always_adds_the_left_operand(traced):
    """This adds a product on the left to itself."""
    change(traced, lambda addition, product, other: (addition.args[0], *product.args))
