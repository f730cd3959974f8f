"""Answers to 08-let-inputs-go: inputs by name, each freed after its last use."""

from torch import fx

from fxbook.tasks.answering import breaks, right, wrong

HELD = "While node `mul` computes, the input `gate` is still alive, but its last user is `sigmoid`"
BOX = "08_boxed_run#a-box-that-is-emptied"
AFTER = "08_boxed_run#what-stays-after-the-run"


def inputs(traced):
    return traced.graph.find_nodes(op="placeholder")


@right
class TakesEachInputAtItsPlaceholder(fx.Interpreter):
    def __init__(self):
        pass

    def __call__(self, traced, named):
        super().__init__(traced)
        self.named, self.names = named, iter([node.name for node in inputs(traced)])
        try:
            return self.run()
        finally:
            self.env = {}

    def placeholder(self, target, args, kwargs):
        return self.named.pop(next(self.names))


@right
def runs_node_by_node(traced, named):
    env = {node: named.pop(node.name) for node in inputs(traced)}
    runner = fx.Interpreter(traced)
    for node in traced.graph.nodes:
        if node.op != "placeholder":
            runner.env = env
            env[node] = runner.run_node(node)
        for read in node.all_input_nodes:
            if max(read.users) is node:
                del env[read]
    return env[node]


@right
def sorts_them_into_a_box(traced, named):
    places = {node.name: place for place, node in enumerate(inputs(traced))}
    box = [None] * len(places)
    for name in list(named):
        box[places[name]] = named.pop(name)
    return fx.Interpreter(traced).boxed_run(box)


@right
def replaces_the_method_of_an_instance(traced, named):
    runner = fx.Interpreter(traced)
    run_node = runner.run_node
    runner.run_node = lambda node: named.pop(node.name) if node.op == "placeholder" else run_node(node)
    try:
        return runner.run()
    finally:
        runner.env.clear()


@breaks("Afterwards the dict is empty", case="the gated mix")
@wrong("nothing_left", says="The dict still holds 3 inputs after the run", read=BOX)
def leaves_the_dict_as_it_was(traced, named):
    return fx.Interpreter(traced).boxed_run([named[node.name] for node in inputs(traced)])


@breaks("the dict is empty", case="five inputs, one unused and one called `input`")
@wrong(
    "nothing_left",
    says="(five inputs, one unused and one called `input`): the dict still holds 1 input after the run",
    read=BOX,
)
def takes_out_only_what_is_used(traced, named):
    box = [named.pop(node.name) if node.users else named[node.name] for node in inputs(traced)]
    return fx.Interpreter(traced).boxed_run(box)


@breaks("Free each input, like every other value, after its last use.", case="the gated mix")
@wrong("let_go", says=HELD)
def passes_a_copy_of_the_list(traced, named):
    box = [named.pop(node.name) for node in inputs(traced)]
    return fx.Interpreter(traced).boxed_run(list(box))


@breaks("in any order", case="five inputs, one unused and one called `input`")
@wrong("uses_what_was_passed", says="node `mul` uses `weight`, but got `bias`")
def sorts_the_names(traced, named):
    return fx.Interpreter(traced).boxed_run([named.pop(name) for name in sorted(named)])


@breaks("the name of each placeholder", case="five inputs, one unused and one called `input`")
@wrong("ends well", says="(five inputs, one unused and one called `input`): your code raises KeyError: 'input'")
def goes_by_parameter_names(traced, named):
    return fx.Interpreter(traced).boxed_run([named.pop(node.target) for node in inputs(traced)])


@breaks("to its tensor", case="the gated mix")
@wrong("uses_what_was_passed", says="Node `sigmoid` got a tensor that does not share memory with `gate`")
def clones_every_input(traced, named):
    box = [named[node.name].clone() for node in inputs(traced)]
    named.clear()
    return fx.Interpreter(traced).boxed_run(box)


@breaks("Free each input, like every other value, after its last use.", case="values used in lists and by keyword")
@wrong("let_go", says="while node `mul` computes, the input `first` is still alive, but its last user is `cat`")
def looks_at_positional_arguments_only(traced, named):
    env = {node: named.pop(node.name) for node in inputs(traced)}
    runner = fx.Interpreter(traced)
    for node in traced.graph.nodes:
        if node.op != "placeholder":
            runner.env = env
            env[node] = runner.run_node(node)
        for read in {read for read in node.args if isinstance(read, fx.Node)}:
            if max(read.users) is node:
                del env[read]
    return env[node]


@breaks("the graph is as it was", case="five inputs, one unused and one called `input`")
@wrong("graph_kept", says="the graph of the module has changed")
def erases_the_unused_input(traced, named):
    for node in inputs(traced):
        if not node.users:
            del named[node.name]
            traced.graph.erase_node(node)
    return fx.Interpreter(traced).boxed_run([named.pop(node.name) for node in inputs(traced)])


runners = []


@breaks("and your code holds no value.", case="the gated mix")
@wrong("nothing_held_after", says="`tanh` is still alive: your code still refers to it", read=AFTER)
def keeps_the_interpreter(traced, named):
    runners.append(fx.Interpreter(traced))
    return runners[-1].boxed_run([named.pop(node.name) for node in inputs(traced)])


@wrong("keeps_to_env", says="KeyError: output. `output` is looked up in `env` or deleted from it, but is not there")
def deletes_the_output_too(traced, named):
    runner = fx.Interpreter(traced)
    runner.env = {node: named.pop(node.name) for node in inputs(traced)}
    for node in traced.graph.nodes:
        if node.op != "placeholder":
            runner.env[node] = runner.run_node(node)
        for gone in [*node.all_input_nodes, node]:
            if max(gone.users, default=node) is node:
                del runner.env[gone]
    return runner.env[node]


@breaks("Run a traced module", case="the gated mix")
@wrong("result_is_right", says="The result is not that of the model")
def forgets_to_return(traced, named):
    fx.Interpreter(traced).boxed_run([named.pop(node.name) for node in inputs(traced)])
