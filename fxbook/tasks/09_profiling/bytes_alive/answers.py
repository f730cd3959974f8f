"""Answers to 09-bytes-alive."""

import weakref

import torch
from torch import fx
from torch.utils._pytree import tree_leaves

from fxbook.tasks.answering import right, wrong


def tensors(value):
    return [part for part in tree_leaves(value) if isinstance(part, torch.Tensor)]


def own(traced):
    """The storages of the weights."""
    return {tensor.untyped_storage().data_ptr() for tensor in (*traced.parameters(), *traced.buffers())}


@right
def reads_the_environment(traced, *inputs):
    """What the environment and the result hold, inputs always; storages told apart by address."""
    found, weights = [], own(traced)

    class Memory(fx.Interpreter):
        def run_node(self, node):
            value = super().run_node(node)
            if node.op == "placeholder":
                self.given.append(value)
            held = [*self.env.values(), *self.given, value]
            stores = {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in tensors(held)}
            found.append(sum(size for address, size in stores.items() if address not in weights))
            return value

    memory = Memory(traced)
    memory.given = []
    with torch.no_grad():
        memory.run(*inputs)
    return found


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


@wrong("bytes_alive", says="keeps values for gradients", read="09_profiling#who-asks-for-gradients")
def asks_for_gradients(traced, *inputs):
    return followed(traced, inputs, no_grad=False)


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


@wrong("bytes_alive", says="bytes alive at `scale`: ")
def counts_weights(traced, *inputs):
    return counted(traced, inputs, lambda node, value: tensors(value))


@wrong("bytes_alive", says=". Weights were not to be counted, nor views of them.")
def counts_views_of_weights(traced, *inputs):
    return counted(traced, inputs, without_weights)


@wrong("bytes_alive", says="you say 0. Inputs count, from their own node to the end.")
def forgets_the_inputs(traced, *inputs):
    return followed(traced, inputs, lambda node, value: [] if node.op == "placeholder" else tensors(value))


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


@wrong("bytes_alive", says="not on another (views, a tuple and weights): bytes alive at `topk`: ")
def knows_no_tuples(traced, *inputs):
    return followed(traced, inputs, lambda node, value: [value] if isinstance(value, torch.Tensor) else [])


@wrong("bytes_alive", says="Nothing is freed in the answer")
def collects_no_values(traced, *inputs):
    return followed(traced, inputs, collect=False)


@wrong("bytes_alive", says="Nothing is freed in the answer")
def keeps_them_in_a_set(traced, *inputs):
    return followed(traced, inputs, held=set)


@wrong("bytes_alive", says="is of the moment before its node made a result")
def looks_before_the_node_runs(traced, *inputs):
    return followed(traced, inputs, before=True)


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


@wrong("bytes_alive", says="The list has 15 numbers: one for each of the 14 nodes was asked.")
def one_too_many(traced, *inputs):
    return [*followed(traced, inputs), 0]


@wrong("bytes_alive", says="A list of numbers was asked")
def only_the_peak(traced, *inputs):
    return max(followed(traced, inputs))


@wrong("bytes_alive", says="Memory that several tensors share counts once.")
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
