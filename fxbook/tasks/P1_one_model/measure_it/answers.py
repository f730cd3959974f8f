"""Answers to P1-measure-it: nodes, FLOPs and the peak of a boxed run."""

import weakref

import torch
from torch import fx
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode

from fxbook.stepping.run.record import record_run
from fxbook.tasks.answering import right, wrong

RUN, GRADIENTS = "08_boxed_run#run-holds-every-input", "09_profiling#who-asks-for-gradients"
PEAK, FLOPS = "09_profiling#bytes-alive", "09_profiling#work-can-be-counted"
NODES = "00_first_graph#every-node-carries-six-fields-and-its-users"


def measured(
    traced,
    args_list,
    boxed=True,
    gradients=False,
    inputs=True,
    weights=False,
    views=False,
    freed=True,
    tensors=False,
    before=False,
):
    """The three numbers, with what a wrong answer does otherwise left to say."""
    kept = () if weights else (*traced.parameters(), *traced.buffers())
    not_counted = {StorageWeakRef(tensor.untyped_storage()) for tensor in kept if not views}
    sizes, peaks = {}, [0]

    def see(values, count=True):
        for part in tree_leaves(values):
            if isinstance(part, torch.Tensor) and not (views and any(part is weight for weight in kept)):
                reference = weakref.ref(part) if tensors else StorageWeakRef(part.untyped_storage())
                sizes[reference] = part.nbytes if tensors else part.untyped_storage().nbytes()
        alive = [ref for ref in sizes if ref not in not_counted and not (freed and gone(ref))]
        if count:
            peaks.append(sum(sizes[ref] for ref in alive))

    def gone(ref):
        return ref() is None if tensors else ref.expired()

    class Memory(fx.Interpreter):
        def run_node(self, node):
            if before:
                see([])
            value = super().run_node(node)
            see(value, count=not before)
            return value

    if weights:
        see([*traced.parameters(), *traced.buffers()], count=False)
    if inputs:
        see(args_list)
    with torch.set_grad_enabled(gradients), FlopCounterMode(display=False) as counter:
        if boxed:
            Memory(traced).boxed_run(args_list)
        else:
            Memory(traced).run(*args_list)
    return {"nodes": len(traced.graph.nodes), "flops": counter.get_total_flops(), "peak": max(peaks)}


# ---- right -----------------------------------------------------------------------------------------------------------


@right
def follows_storages(traced, args_list):
    return measured(traced, args_list)


@right
def reads_env(traced, args_list):
    """What the interpreter holds, and what it has made, is what is alive."""
    kept = {tensor.untyped_storage().data_ptr() for tensor in (*traced.parameters(), *traced.buffers())}
    peak = 0

    class Memory(fx.Interpreter):
        def run_node(self, node):
            nonlocal peak
            value = super().run_node(node)
            parts = [part for part in tree_leaves([list(self.env.values()), value]) if torch.is_tensor(part)]
            storages = {part.untyped_storage().data_ptr(): part.untyped_storage().nbytes() for part in parts}
            peak = max(peak, sum(size for place, size in storages.items() if place not in kept))
            return value

    counter = FlopCounterMode(display=False)
    with torch.no_grad(), counter:
        Memory(traced).boxed_run(args_list)
    return {"peak": peak, "nodes": sum(1 for _ in traced.graph.nodes), "flops": counter.get_total_flops()}


@right
def measures_in_two_runs(traced, args_list):
    again = [value.clone() for value in args_list]
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        traced(*again)
    return {**measured(traced, args_list), "flops": counter.get_total_flops()}


@right
def records_the_run(traced, args_list):
    """With the recorder of this book."""
    with torch.no_grad():
        record = record_run(traced, traced.graph, args_list, "boxed_run")
        with FlopCounterMode(display=False) as counter:
            fx.Interpreter(traced).boxed_run(args_list)
    return {"nodes": len(traced.graph.nodes), "flops": counter.get_total_flops(), "peak": record.peak}


@right
class Measure:
    """A callable object, node by node."""

    def __call__(self, traced, args_list):
        flops = []

        class Flops(fx.Interpreter):
            def run_node(self, node):
                with FlopCounterMode(display=False) as counter:
                    value = super().run_node(node)
                flops.append(counter.get_total_flops())
                return value

        with torch.no_grad():
            Flops(traced).boxed_run(list(args_list))
        return {**measured(traced, args_list), "flops": sum(flops)}


@right
def gives_floats(traced, args_list):
    return {name: float(number) for name, number in measured(traced, args_list).items()}


@right
def measures_without_a_mode(traced, args_list):
    with torch.inference_mode():
        return measured(traced, args_list)


@right
def counts_from_the_list(traced, args_list):
    found = measured(traced, args_list)
    return dict(sorted({**found, "nodes": len(list(traced.graph.nodes))}.items()))


# ---- wrong -----------------------------------------------------------------------------------------------------------


@wrong("three_numbers", says="'peak' is missing")
def forgets_the_peak(traced, args_list):
    return {"nodes": len(traced.graph.nodes), "flops": measured(traced, args_list)["flops"]}


@wrong("three_numbers", says="is to be a dict with the numbers")
def returns_a_tuple(traced, args_list):
    return tuple(measured(traced, args_list).values())


@wrong("three_numbers", says="The answer has seconds, which was not asked")
def measures_seconds_too(traced, args_list):
    return {**measured(traced, args_list), "seconds": 0.1}


@wrong("nodes_counted", says="Inputs and `output` are nodes, too", read=NODES)
def counts_what_computes(traced, args_list):
    calls = [node for node in traced.graph.nodes if node.op.startswith("call")]
    return {**measured(traced, args_list), "nodes": len(calls)}


@wrong("flops_counted", says="A product and a sum are two operations", read=FLOPS)
def counts_products(traced, args_list):
    found = measured(traced, args_list)
    return {**found, "flops": found["flops"] // 2}


@wrong("flops_counted", says="One run was to be counted", read=FLOPS)
def counts_two_runs(traced, args_list):
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        traced(*args_list)
        found = measured(traced, args_list)
    return {**found, "flops": counter.get_total_flops()}


@wrong("flops_counted", says="The answer has 0 FLOPs", read=FLOPS)
def counts_no_flops(traced, args_list):
    return {**measured(traced, args_list), "flops": 0}


@wrong("peak_measured", says="that of `run`, which holds every input", read=RUN)
def runs_unboxed(traced, args_list):
    return measured(traced, args_list, boxed=False)


@wrong("peak_measured", says="that of a run that keeps values for gradients", read=GRADIENTS)
def keeps_values_for_gradients(traced, args_list):
    return measured(traced, args_list, gradients=True)


@wrong("peak_measured", says="the peak of the answer is", read=PEAK)
def leaves_inputs_out(traced, args_list):
    return measured(traced, args_list, inputs=False)


@wrong("peak_measured", says="weights were not to be counted", read=PEAK)
def counts_weights(traced, args_list):
    return measured(traced, args_list, weights=True)


@wrong("peak_measured", says="as if none was freed", read=PEAK)
def adds_up_all_values(traced, args_list):
    return measured(traced, args_list, freed=False)


@wrong("peak_measured", says="the peak of the answer is", read=PEAK)
def follows_tensors(traced, args_list):
    return measured(traced, args_list, tensors=True)


@wrong("peak_measured", says="The peak of the answer is", read=PEAK)
def measures_before_each_node(traced, args_list):
    return measured(traced, args_list, before=True)


@wrong("peak_measured", says="that is what is left after values were freed, not before", read=PEAK)
def measures_what_is_left_after_each_node(traced, args_list):
    with torch.no_grad():
        record = record_run(traced, traced.graph, [value.clone() for value in args_list], "boxed_run")
    return {**measured(traced, args_list), "peak": max(record.after)}


@wrong("peak_measured", says="the peak of the answer is", read=PEAK)
def lets_unread_inputs_go(traced, args_list):
    for place, node in enumerate(traced.graph.find_nodes(op="placeholder")):
        if not node.users:
            args_list[place] = torch.zeros(())
    return measured(traced, args_list)


@wrong("peak_measured", says="the peak of the answer is", read=PEAK)
def counts_views_of_weights(traced, args_list):
    """A view of a weight is another tensor."""
    return measured(traced, args_list, views=True)
