"""Answers to P1-measure-it: the nodes of a graph, and the FLOPs and the peak memory of a boxed run."""

import weakref

import torch
from torch import fx
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode

from fxbook.stepping.run.record import record_run
from fxbook.tasks.answering import breaks, right, wrong

RUN, GRADIENTS = "08_boxed_run#run-holds-every-input", "09_profiling#who-asks-for-gradients"
PEAK, FLOPS = "09_profiling#bytes-alive", "09_profiling#work-can-be-counted"
NODES = "00_first_graph#every-node-carries-six-fields-and-its-users"


def measured(
    traced,
    args_list,
    boxed=True,
    mode=torch.no_grad,
    inputs=True,
    recurse=True,
    parts_of=tree_leaves,
    place_of=lambda tensor: 0,
):
    """The three numbers, with parameters for what a wrong answer does differently."""
    kept = (*traced.parameters(recurse), *traced.buffers(recurse))
    weights, sizes, peaks = {StorageWeakRef(tensor.untyped_storage()) for tensor in kept}, {}, []

    def see(parts):
        for part in parts:
            if isinstance(part, torch.Tensor):
                storage = part.untyped_storage()
                sizes[StorageWeakRef(storage), place_of(part)] = storage.nbytes()
        peaks.append(sum(size for (ref, _), size in sizes.items() if ref not in weights and not ref.expired()))

    class Memory(fx.Interpreter):
        def run_node(self, node):
            value = super().run_node(node)
            see(parts_of(value))
            return value

    see(args_list if inputs else [])
    with mode(), FlopCounterMode(display=False) as counter:
        runner = Memory(traced)
        runner.boxed_run(args_list) if boxed else runner.run(*args_list)
    return {"nodes": len(traced.graph.nodes), "flops": counter.get_total_flops(), "peak": max(peaks)}


def weights_of(traced):
    """The addresses of the memory of all weights and buffers."""
    return {tensor.untyped_storage().data_ptr() for tensor in (*traced.parameters(), *traced.buffers())}


def storages_in(values):
    """The storages of all tensors in nested values, by address."""
    tensors = [part for part in tree_leaves(values) if isinstance(part, torch.Tensor)]
    return {tensor.untyped_storage().data_ptr(): tensor.untyped_storage() for tensor in tensors}


def copies(args_list):
    return [value.clone() if isinstance(value, torch.Tensor) else value for value in args_list]


def flops_of(traced, args_list):
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        traced(*copies(args_list))
    return counter.get_total_flops()


@right
def measures_in_two_runs(traced, args_list):
    flops, weights = flops_of(traced, args_list), weights_of(traced)
    seen, peaks = [weakref.ref(storage) for storage in storages_in(args_list).values()], []
    runner = fx.Interpreter(traced)
    run_node = runner.run_node

    def watched(node):
        value = run_node(node)
        seen.extend(weakref.ref(storage) for place, storage in storages_in(value).items() if place not in weights)
        alive = {id(storage): storage.nbytes() for ref in seen if (storage := ref()) is not None}
        peaks.append(sum(alive.values()))
        return value

    runner.run_node = watched
    with torch.no_grad():
        runner.boxed_run(args_list)
    return {"nodes": len(list(traced.graph.nodes)), "flops": flops, "peak": max(peaks)}


@right
def records_the_run(traced, args_list):
    flops = flops_of(traced, args_list)
    with torch.no_grad():
        record = record_run(traced, traced.graph, args_list, "boxed_run")
    return {"nodes": len(traced.graph.nodes), "flops": flops, "peak": record.peak}


@right
class Measure:
    def __call__(self, traced, args_list):
        flops, weights, peaks = [], weights_of(traced), []

        class Measured(fx.Interpreter):
            def run_node(self, node):
                with FlopCounterMode(display=False) as counter:
                    value = super().run_node(node)
                flops.append(counter.get_total_flops())
                held = storages_in([self.env, value])
                peaks.append(sum(held[place].nbytes() for place in held.keys() - weights))
                return value

        with torch.no_grad():
            Measured(traced).boxed_run(args_list)
        return {"nodes": float(len(traced.graph.nodes)), "flops": float(sum(flops)), "peak": float(max(peaks))}


@right
def measures_in_inference_mode(traced, args_list):
    return measured(traced, args_list, mode=torch.inference_mode)


@breaks('`"peak"`:', case="the network of the project, before cleaning")
@wrong("three_numbers", says="'peak' is missing")
def forgets_the_peak(traced, args_list):
    return {"nodes": len(traced.graph.nodes), "flops": measured(traced, args_list)["flops"]}


@breaks(
    '`"nodes"`:',
    "the number of nodes in the graph, counting all opcodes;",
    case="the network of the project, before cleaning",
)
@wrong("nodes_counted", says="Inputs and `output` are nodes too", read=NODES)
def counts_only_calls(traced, args_list):
    calls = [node for node in traced.graph.nodes if node.op.startswith("call")]
    return {**measured(traced, args_list), "nodes": len(calls)}


@breaks(
    '`"flops"`:',
    "the FLOPs of the run, as `FlopCounterMode` counts them;",
    case="the network of the project, before cleaning",
)
@wrong("flops_counted", says="A product and a sum are two operations", read=FLOPS)
def counts_products(traced, args_list):
    found = measured(traced, args_list)
    return {**found, "flops": found["flops"] // 2}


@breaks("of `fx.Interpreter(traced).boxed_run(args_list)`", case="the network of the project, before cleaning")
@wrong("peak_measured", says="which is the peak of `run`, a method that holds every input", read=RUN)
def runs_unboxed(traced, args_list):
    return measured(traced, args_list, boxed=False)


@breaks("without gradients:", case="the network of the project, before cleaning")
@wrong("peak_measured", says="which is the peak of a run that keeps values for gradients", read=GRADIENTS)
def keeps_values_for_gradients(traced, args_list):
    return measured(traced, args_list, mode=torch.enable_grad)


@breaks("Inputs count as long as they are alive;", case="weights, views and an unused input")
@wrong("peak_measured", says="the peak of the run is", read=PEAK)
def does_not_count_inputs(traced, args_list):
    return measured(traced, args_list, inputs=False)


@breaks("before any value that it used is freed.", case="the network of the project, before cleaning")
@wrong("peak_measured", says="which is the most bytes alive after values are freed, not before", read=PEAK)
def measures_what_is_left_after_each_node(traced, args_list):
    with torch.no_grad():
        record = record_run(traced, traced.graph, copies(args_list), "boxed_run")
    return {**measured(traced, args_list), "peak": max(record.after)}


@breaks("an input or a result that no node uses counts to the end.", case="weights, views and an unused input")
@wrong("peak_measured", says="which leaves out an input that no node uses", read=PEAK)
def frees_unused_inputs(traced, args_list):
    for place, node in enumerate(traced.graph.find_nodes(op="placeholder")):
        if not node.users:
            args_list[place] = torch.zeros(0)
    return measured(traced, args_list)


@breaks(
    "an input or a result that no node uses counts to the end.", case="two columns of a value, two results of one node"
)
@wrong("peak_measured", says="which leaves out a result that no node uses", read=PEAK)
def frees_unused_results(traced, args_list):
    runner, weights, peaks = fx.Interpreter(traced), weights_of(traced), []
    run_node = runner.run_node

    def watched(node):
        value = run_node(node)
        used = [held for node, held in runner.env.items() if node.users or node.op == "placeholder"]
        held = storages_in([used, value])
        peaks.append(sum(held[place].nbytes() for place in held.keys() - weights))
        return value

    runner.run_node = watched
    flops = flops_of(traced, args_list)
    with torch.no_grad():
        runner.boxed_run(args_list)
    return {"nodes": len(traced.graph.nodes), "flops": flops, "peak": max(peaks)}


@breaks("Weights and buffers, and views of them, do not count.", case="weights, views and an unused input")
@wrong("peak_measured", says="which counts weights", read=PEAK)
def counts_the_weights_of_submodules(traced, args_list):
    return measured(traced, args_list, recurse=False)


@breaks("Memory that several tensors share counts once.", case="two columns of a value, two results of one node")
@wrong("peak_measured", says="which counts shared memory more than once", read=PEAK)
def counts_the_memory_at_each_address(traced, args_list):
    return measured(traced, args_list, place_of=torch.Tensor.data_ptr)


@breaks(
    "the largest number of bytes alive when a node has computed its result,",
    case="two columns of a value, two results of one node",
)
@wrong("peak_measured", says="reaches its peak at node `sort`, whose result has 2 tensors", read=PEAK)
def overlooks_several_results(traced, args_list):
    return measured(traced, args_list, parts_of=lambda value: [value])
