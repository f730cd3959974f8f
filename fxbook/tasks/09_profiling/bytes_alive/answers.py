"""Answers to 09-bytes-alive."""

import itertools
import weakref

import torch
from torch import fx
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._pytree import tree_leaves

from fxbook.tasks.answering import breaks, right, wrong


def tensors(value):
    return [part for part in tree_leaves(value) if isinstance(part, torch.Tensor)]


def own(traced):
    """The storages of the weights."""
    return {tensor.untyped_storage().data_ptr() for tensor in (*traced.parameters(), *traced.buffers())}


@right
def finalizers(traced, *inputs):
    weights, alive, found = own(traced), {}, []

    class Memory(fx.Interpreter):
        def run_node(self, node):
            value = super().run_node(node)
            for tensor in tensors(value):
                store = tensor.untyped_storage()
                if store.data_ptr() not in weights and id(store) not in alive:
                    alive[id(store)] = store.nbytes()
                    weakref.finalize(store, alive.pop, id(store))
            found.append(sum(alive.values()))
            return value

    with torch.inference_mode():
        Memory(traced).run(*inputs)
    return tuple(found)


@right
def from_the_last_readers(traced, *inputs):
    """Every value is kept; when each would die is read from the graph."""
    nodes, values = list(traced.graph.nodes), {}

    class Keep(fx.Interpreter):
        def run_node(self, node):
            values[node] = super().run_node(node)
            return values[node]

    with torch.no_grad():
        Keep(traced).run(*inputs)
    weights, found = own(traced), []
    last = {node: max([at, *(nodes.index(user) for user in node.users)]) for at, node in enumerate(nodes)}
    for at, _ in enumerate(nodes):
        held = [values[n] for n in nodes[: at + 1] if last[n] >= at or n.op == "placeholder"]
        stores = {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in tensors(held)}
        found.append(sum(size for address, size in stores.items() if address not in weights))
    return found


@right
def around_the_methods_of_an_interpreter(traced, *inputs):
    """No subclass: the method is replaced on the object. Storages are told apart by weak references of torch."""
    sizes, found = {}, []
    runner = fx.Interpreter(traced)
    kept = itertools.chain(traced.parameters(), traced.buffers())
    stored = {StorageWeakRef(tensor.untyped_storage()) for tensor in kept}
    plain = runner.run_node

    def run_node(node):
        value = plain(node)
        sizes.update((StorageWeakRef(t.untyped_storage()), t.untyped_storage().nbytes()) for t in tensors(value))
        found.append(sum(size for ref, size in sizes.items() if ref not in stored and not ref.expired()))
        return value

    runner.run_node = run_node
    with torch.no_grad():
        runner.run(*inputs)
    return found


@right
def a_loop_of_its_own(traced, *inputs):
    """Runs the nodes by hand, and frees each value after its last user."""
    runner = fx.Interpreter(traced)
    runner.args_iter, runner.env, found, stores = iter(inputs), {}, [], weakref.WeakSet()
    weights = own(traced)
    with torch.inference_mode():
        for node in traced.graph.nodes:
            runner.env[node] = runner.run_node(node)
            stores.update(part.untyped_storage() for part in tensors(runner.env[node]))
            found.append(sum(store.nbytes() for store in stores if store.data_ptr() not in weights))
            for done in runner.user_to_last_uses.get(node, []):
                del runner.env[done]
    return found


def without_weights(node, value):
    return [] if node.op == "get_attr" else tensors(value)


def followed(traced, inputs, count=without_weights, no_grad=True, collect=True, before=False, held=weakref.WeakSet):
    stores, found, weights = held(), [], own(traced)

    def size():
        return sum(store.nbytes() for store in stores if store.data_ptr() not in weights)

    class Memory(fx.Interpreter):
        def run_node(self, node):
            if before:
                found.append(size())
            value = super().run_node(node)
            stores.update(part.untyped_storage() for part in count(node, value))
            if not before:
                found.append(size())
            return value

    with torch.set_grad_enabled(not no_grad):
        Memory(traced, garbage_collect_values=collect).run(*inputs)
    return found


def counted(traced, inputs, count):
    """As the chapter does, where nothing tells weights from other memory but ``count``."""
    stores, found = weakref.WeakSet(), []

    class Memory(fx.Interpreter):
        def run_node(self, node):
            value = super().run_node(node)
            stores.update(part.untyped_storage() for part in count(node, value))
            found.append(sum(store.nbytes() for store in stores))
            return value

    with torch.no_grad():
        Memory(traced).run(*inputs)
    return found


@breaks("The parameters", case="views, a tuple and weights")
@wrong("bytes_alive", says="Parameters and buffers were not to be counted")
def counts_weights(traced, *inputs):
    return counted(traced, inputs, lambda node, value: tensors(value))


@breaks("nor do views of them", case="views, a tuple and weights")
@wrong("bytes_alive", says="were not to be counted, nor views of them")
def counts_views_of_weights(traced, *inputs):
    return counted(traced, inputs, without_weights)


@breaks("Inputs count", case="the network of the chapter")
@wrong("bytes_alive", says="you say 0. Inputs count, from their own node to the end")
def forgets_the_inputs(traced, *inputs):
    return followed(traced, inputs, lambda node, value: [] if node.op == "placeholder" else tensors(value))


@breaks("to the end, because the caller holds them", case="the network of the chapter")
@wrong("bytes_alive", says="Inputs are freed after their last user in the answer: the caller holds them to the end.")
def lets_go_of_the_inputs(traced, *inputs):
    found, weights = [], own(traced)

    class Memory(fx.Interpreter):
        def run_node(self, node):
            value = super().run_node(node)
            held = tensors([*self.env.values(), value])
            stores = {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in held}
            found.append(sum(size for address, size in stores.items() if address not in weights))
            return value

    with torch.no_grad():
        Memory(traced).run(*inputs)
    return found


@breaks("a tuple", case="views, a tuple and weights")
@wrong("bytes_alive", says="Its result holds 2 tensors, each with memory of its own: all of them count.")
def knows_no_tuples(traced, *inputs):
    return followed(traced, inputs, lambda node, value: [value] if isinstance(value, torch.Tensor) else [])


@breaks("when the node has made its result", case="the network of the chapter")
@wrong("bytes_alive", says="is of the moment before its node made a result")
def looks_before_the_node_runs(traced, *inputs):
    return followed(traced, inputs, before=True)


@breaks("before anything is freed after it", case="the network of the chapter")
@wrong("bytes_alive", says="The bytes are those left after values were freed")
def looks_after_values_are_freed(traced, *inputs):
    """Looks back from the next node, and after the run for the last one."""
    stores, found, weights = weakref.WeakSet(), [], own(traced)

    class Memory(fx.Interpreter):
        def run_node(self, node):
            found.append(sum(store.nbytes() for store in stores if store.data_ptr() not in weights))
            value = super().run_node(node)
            stores.update(part.untyped_storage() for part in without_weights(node, value))
            return value

    with torch.no_grad():
        result = Memory(traced).run(*inputs)
    assert result is not None
    return [*found[1:], sum(store.nbytes() for store in stores if store.data_ptr() not in weights)]


@breaks("The number is the bytes", case="the network of the chapter")
@wrong("bytes_alive", says="The numbers are MiB: bytes were asked.")
def in_mebibytes(traced, *inputs):
    return [held / 2**20 for held in followed(traced, inputs)]


@wrong("ends well", says="is ambiguous (a set compares what it holds, and tensors by each element; a storage")
def a_set_of_tensors(traced, *inputs):
    alive, found = weakref.WeakSet(), []

    class Memory(fx.Interpreter):
        def run_node(self, node):
            value = super().run_node(node)
            alive.update(tensors(value) if node.op != "get_attr" else [])
            found.append(sum(tensor.nbytes for tensor in alive))
            return value

    with torch.no_grad():
        Memory(traced).run(*inputs)
    return found


@breaks("a list with one number for each node", case="the network of the chapter")
@wrong("bytes_alive", says="The list has 15 numbers: one for each of the 14 nodes was asked.")
def one_too_many(traced, *inputs):
    return [*followed(traced, inputs), 0]


@breaks("Memory that several tensors share counts once", case="the network of the chapter")
@wrong("bytes_alive", says="Memory that several tensors share counts once")
def counts_each_value(traced, *inputs):
    """The bytes of each node's value in the environment, and of the new one: output is head once more."""
    found = []

    class Memory(fx.Interpreter):
        def run_node(self, node):
            value = super().run_node(node)
            if node.op == "placeholder":
                self.given = [value]
            held = [v for n, v in self.env.items() if n.op not in ("get_attr", "placeholder")] + self.given
            held += [value] if node.op not in ("placeholder", "get_attr") else []
            sizes = [t.nbytes for t in tensors(held)]
            found.append(sum(sizes) - (0 if node.name != "flatten" else value.nbytes))
            return value

    with torch.no_grad():
        Memory(traced).run(*inputs)
    return found


@breaks("a dict", case="several inputs, a nested result and buffers")
@wrong("bytes_alive", says="to the end, with all tensors that they hold.")
def knows_no_dicts(traced, *inputs):
    def parts(value):
        if isinstance(value, torch.Tensor):
            return [value]
        return [part for item in value for part in parts(item)] if isinstance(value, (tuple, list)) else []

    return followed(traced, inputs, lambda node, value: parts(value))


@breaks("one inside the other", case="several inputs, a nested result and buffers")
@wrong("bytes_alive", says="Its result holds 3 tensors, each with memory of its own: all of them count.")
def looks_one_level_deep(traced, *inputs):
    def parts(node, value):
        items = value.values() if isinstance(value, dict) else value if isinstance(value, (tuple, list)) else [value]
        return [item for item in items if isinstance(item, torch.Tensor)]

    return followed(traced, inputs, parts)


@breaks("and whole", case="views, a tuple and weights")
@wrong("bytes_alive", says="A view holds the whole memory that it is a view of, as long as it is alive.")
def counts_what_a_view_shows(traced, *inputs):
    """Of each memory the bytes of the largest tensor that shows a part of it."""
    found, weights = [], own(traced)

    class Memory(fx.Interpreter):
        def run_node(self, node):
            value, shown = super().run_node(node), {}
            for tensor in tensors([*self.env.values(), inputs[: len(found) + 1], value]):
                address = tensor.untyped_storage().data_ptr()
                shown[address] = max(shown.get(address, 0), tensor.nbytes)
            found.append(sum(size for address, size in shown.items() if address not in weights))
            return value

    with torch.no_grad():
        Memory(traced).run(*inputs)
    return found


@breaks("from their own node", case="several inputs, a nested result and buffers")
@wrong("bytes_alive", says="Inputs count, from their own node to the end")
def counts_all_inputs_from_the_first_node(traced, *inputs):
    given = [part.untyped_storage() for part in tensors(inputs)]
    found = followed(traced, inputs)
    many = [node.op for node in traced.graph.nodes].count("placeholder")
    return [sum(store.nbytes() for store in given)] * many + found[many:]


@breaks("and buffers of `traced` do not count", case="several inputs, a nested result and buffers")
@wrong("bytes_alive", says="Parameters and buffers were not to be counted, nor views of them.")
def counts_buffers(traced, *inputs):
    parameters = {parameter.untyped_storage().data_ptr() for parameter in traced.parameters()}

    def parts(node, value):
        return [part for part in tensors(value) if part.untyped_storage().data_ptr() not in parameters]

    return counted(traced, inputs, parts)


def held_by_hand(traced, inputs, last_use):
    """Runs the nodes one by one, and counts what it holds itself."""
    runner, found, weights = fx.Interpreter(traced), [], own(traced)
    runner.args_iter = iter(inputs)
    for node in traced.graph.nodes:
        runner.env[node] = runner.run_node(node)
        held = {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in tensors([*runner.env.values()])}
        found.append(sum(size for address, size in held.items() if address not in weights))
        for used in node.all_input_nodes:
            if used.op != "placeholder" and last_use(used) is node:
                del runner.env[used]
    return found


@breaks("Run without gradients.", case="several inputs, a nested result and buffers")
@wrong("bytes_alive", says="This node ran with gradients enabled: a run without gradients was asked.")
def counts_what_it_holds_with_gradients(traced, *inputs):
    return held_by_hand(traced, inputs, lambda used: max(used.users))


@breaks("that are alive", case="several inputs, a nested result and buffers")
@wrong(
    "ends well",
    says="(several inputs, a nested result and buffers): your code raises RuntimeError: Node getitem_1",
    read="08_boxed_run#runtimeerror-node-mix-referenced-nonexistent-value-query-run-graphlint-to-diagnose-such-issues",
)
def frees_after_the_last_of_the_users(traced, *inputs):
    """Users have the order in which they were added."""
    with torch.no_grad():
        return held_by_hand(traced, inputs, lambda used: [*used.users][-1])
