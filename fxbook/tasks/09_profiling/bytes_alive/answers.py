"""Answers to 09-bytes-alive: the bytes that are alive at each node."""

import weakref
from operator import attrgetter

import torch
from torch import fx
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._pytree import tree_leaves

from fxbook.tasks.answering import breaks, right, wrong

GRADIENTS = "09_profiling#who-asks-for-gradients"
NETWORK, VIEWS = "the network of the chapter", "views, a tuple and weights"
SEVERAL = "several inputs, a nested result and buffers"


def tensors(value):
    return [part for part in tree_leaves(value) if isinstance(part, torch.Tensor)]


def own(traced):
    """The addresses of the storages of the weights."""
    return {tensor.untyped_storage().data_ptr() for tensor in (*traced.parameters(), *traced.buffers())}


def in_memory(values, weights):
    """The bytes of the storages of these values, without those of the weights."""
    stores = {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in tensors(values)}
    return sum(size for address, size in stores.items() if address not in weights)


@right
def uses_finalizers(traced, *inputs):
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
def finds_the_last_users(traced, *inputs):
    """Keeps every value, and finds in the graph after which node it would be freed."""
    nodes, values = list(traced.graph.nodes), {}

    class Keep(fx.Interpreter):
        def run_node(self, node):
            values[node] = super().run_node(node)
            return values[node]

    Keep(traced).run(*inputs)
    last = {node: max([at, *(nodes.index(user) for user in node.users)]) for at, node in enumerate(nodes)}
    return [
        in_memory([values[n] for n in nodes[: at + 1] if last[n] >= at or n.op == "placeholder"], own(traced))
        for at, _ in enumerate(nodes)
    ]


@right
def replaces_run_node_on_the_object(traced, *inputs):
    sizes, found = {}, []
    runner = fx.Interpreter(traced)
    stored = {StorageWeakRef(t.untyped_storage()) for t in (*traced.parameters(), *traced.buffers())}
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
def runs_its_own_loop(traced, *inputs):
    """Runs each node and frees each value after its last use."""
    runner, found = fx.Interpreter(traced), []
    runner.args_iter, runner.env = iter(inputs), {}
    for step, node in enumerate(traced.graph.nodes):
        runner.env[node] = runner.run_node(node)
        found.append(in_memory([inputs[: step + 1], *runner.env.values()], own(traced)))
        for done in runner.user_to_last_uses.get(node, []):
            del runner.env[done]
    return found


def followed(traced, inputs, count=tensors, weights=None, before=False, no_grad=True):
    """Counts storages through weak references; ``count(value)`` lists the tensors that count in a value."""
    stores, found, weights = weakref.WeakSet(), [], own(traced) if weights is None else weights

    def look():
        found.append(sum(store.nbytes() for store in stores if store.data_ptr() not in weights))

    class Memory(fx.Interpreter):
        def run_node(self, node):
            if before:
                look()
            value = super().run_node(node)
            stores.update(part.untyped_storage() for part in count(value) if node.op != "get_attr")
            if not before:
                look()
            return value

    with torch.set_grad_enabled(not no_grad):
        result = Memory(traced).run(*inputs)
    look()
    assert result is not None
    return found[1:] if before == "last" else found[:-1]


def at_each_node(traced, inputs, size):
    """``size(environment, inputs so far, new value)`` at each node."""
    found = []

    class Memory(fx.Interpreter):
        def run_node(self, node):
            value = super().run_node(node)
            found.append(size([v for n, v in self.env.items() if n.op != "get_attr"], inputs[: len(found) + 1], value))
            return value

    with torch.no_grad():
        Memory(traced).run(*inputs)
    return found


@breaks("neither do views of them", case=SEVERAL)
@wrong("bytes_alive", says="Parameters and buffers do not count, and neither do views of them.")
def recognises_weights_by_their_nodes(traced, *inputs):
    """Leaves out what ``get_attr`` nodes fetch, and views of that."""
    fetched = [attrgetter(node.target)(traced) for node in traced.graph.find_nodes(op="get_attr")]
    return followed(traced, inputs, weights={value.untyped_storage().data_ptr() for value in fetched})


@breaks("to the end, because the caller holds them", case=NETWORK)
@wrong(
    "bytes_alive", says="In your numbers, inputs are freed after their last use, but the caller keeps them alive to the"
)
def frees_the_inputs(traced, *inputs):
    return at_each_node(traced, inputs, lambda env, given, value: in_memory([env, value], own(traced)))


@breaks("when the node has computed its result", case=NETWORK)
@wrong("bytes_alive", says="Each number was taken before its node had computed its result")
def counts_before_the_node_runs(traced, *inputs):
    return followed(traced, inputs, before=True)


@breaks("before any value that it used is freed", case=NETWORK)
@wrong("bytes_alive", says="Your numbers were taken after values had been freed")
def counts_after_values_are_freed(traced, *inputs):
    return followed(traced, inputs, before="last")


@breaks("The number is the total size in bytes", case=NETWORK)
@wrong("bytes_alive", says="The numbers are in MiB, but the task asks for bytes.")
def counts_in_mebibytes(traced, *inputs):
    return [size / 2**20 for size in followed(traced, inputs)]


@wrong("ends well", says="is ambiguous (a set compares tensors element by element, but storages as objects)")
def makes_a_set_of_tensors(traced, *inputs):
    alive = weakref.WeakSet()
    return at_each_node(traced, inputs, lambda env, given, value: alive.update(tensors(value)) or len(alive))


@breaks("a list with one number for each node", case=NETWORK)
@wrong("bytes_alive", says="The list has 15 numbers, but the graph has 14 nodes.")
def lists_one_number_too_many(traced, *inputs):
    return [*followed(traced, inputs), 0]


@breaks("Memory that several tensors share counts once", case=NETWORK)
@wrong("bytes_alive", says="Memory that several tensors share counts once")
def counts_each_tensor(traced, *inputs):
    return at_each_node(
        traced, inputs, lambda env, given, value: sum(t.nbytes for t in {*tensors([env, given, value])})
    )


@breaks("possibly nested", case=SEVERAL)
@wrong("bytes_alive", says="Its result contains 3 tensors, each with its own memory: all of them count.")
def looks_one_level_deep(traced, *inputs):
    def parts(value):
        items = value.values() if isinstance(value, dict) else value if isinstance(value, (tuple, list)) else [value]
        return [item for item in items if isinstance(item, torch.Tensor)]

    return followed(traced, inputs, parts)


@breaks("and in full", case=VIEWS)
@wrong("bytes_alive", says="A view keeps alive all the memory of the tensor that it views.")
def counts_the_size_of_a_view(traced, *inputs):
    """Counts, for each storage, the bytes of the largest tensor that uses it."""

    def size(env, given, value):
        shown = {}
        for tensor in tensors([env, given, value]):
            address = tensor.untyped_storage().data_ptr()
            shown[address] = max(shown.get(address, 0), tensor.nbytes)
        return sum(size for address, size in shown.items() if address not in own(traced))

    return at_each_node(traced, inputs, size)


@breaks("from their own node", case=SEVERAL)
@wrong("bytes_alive", says="An input counts from its own node to the end")
def counts_all_inputs_from_the_first_node(traced, *inputs):
    return at_each_node(traced, inputs, lambda env, given, value: in_memory([env, inputs, value], own(traced)))


@breaks("The numbers are those of a run without gradients.", case=NETWORK)
@wrong("bytes_alive", says="a run that keeps values for gradients: run without gradients.", read=GRADIENTS)
def runs_with_gradients(traced, *inputs):
    return followed(traced, inputs, no_grad=False)
