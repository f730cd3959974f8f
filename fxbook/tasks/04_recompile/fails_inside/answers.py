"""Answers to 04-fails-inside: the innermost graph in which a node fails, and the node, whatever is compiled."""

import contextlib
import copy

import torch
from torch import fx, nn

from fxbook.tasks.answering import breaks, right, wrong

DOWN = "04_recompile#recompile-goes-down-to-children-not-to-everything-inside"
COPY = "when_it_breaks/04_recompile#what-a-copy-keeps"
LINE = "04_recompile#find-the-line-that-failed"


def traced_in(model):
    return {path: part for path, part in model.named_modules() if isinstance(part, fx.GraphModule)}


class Notes(fx.Interpreter):
    """Puts the path of its module and the node that raises on a list."""

    def __init__(self, module, path, failed):
        super().__init__(module)
        self.path, self.failed = path, failed

    def run_node(self, n):
        try:
            return super().run_node(n)
        except Exception:
            self.failed.append((self.path, n.name))
            raise


# ---- right -----------------------------------------------------------------------------------------------------------


@right
def gives_each_copied_class_a_forward(traced, *inputs):
    """Each GraphModule has a class of its own; the interpreter is made when it is called."""
    failed = []
    draft = copy.deepcopy(traced)
    for path, part in traced_in(draft).items():
        type(part).forward = lambda self, *args, path=path: Notes(self, path, failed).run(*args)
    try:
        draft(*inputs)
    except Exception:
        return failed[0]


@right
def walks_the_traceback(traced, *inputs):
    """The frames of node runs hold interpreter and node."""
    draft = copy.deepcopy(traced)
    path_of = {}
    for path, part in traced_in(draft).items():
        runner = fx.Interpreter(part)
        part.forward, path_of[id(runner)] = runner.run, path
    try:
        draft(*inputs)
    except Exception as error:
        found, tb = None, error.__traceback__
        while tb is not None:
            held = tb.tb_frame.f_locals
            if tb.tb_frame.f_code.co_name == "run_node" and id(held.get("self")) in path_of:
                found = path_of[id(held["self"])], held["n"].name
            tb = tb.tb_next
        return found


@right
def writes_the_notes_into_the_graphs(traced, *inputs):
    """Before each node a call that notes it, and after it one that takes the note back."""
    stack = []

    def begins(path, name):
        stack.append((path, name))

    def ends():
        stack.pop()

    draft = copy.deepcopy(traced)
    for path, part in traced_in(draft).items():
        for node in list(part.graph.nodes):
            if node.op.startswith("call_"):
                with part.graph.inserting_before(node):
                    part.graph.call_function(begins, (path, node.name))
                with part.graph.inserting_after(node):
                    part.graph.call_function(ends)
        part.recompile()
    try:
        draft(*inputs)
    except Exception:
        return stack[-1]
    return None


@right
def runs_node_by_node_in_a_loop_of_its_own(traced, *inputs):
    """No interpreter's run: the loop itself keeps the values, for every module in a copy."""
    failed = []

    def looped(part, path):
        def forward(*args):
            runner, given = fx.Interpreter(part, garbage_collect_values=False), iter(args)
            runner.args_iter = given
            for node in part.graph.nodes:
                try:
                    runner.env[node] = runner.run_node(node)
                except Exception:
                    failed.append((path, node.name))
                    raise
            return runner.env[part.graph.output_node()]

        return forward

    draft = copy.deepcopy(traced)
    for path, part in traced_in(draft).items():
        part.forward = looped(part, path)
    try:
        nn.Module.__call__(draft, *inputs)
    except Exception:
        return failed[0]
    return None


# ---- wrong -----------------------------------------------------------------------------------------------------------


@breaks(
    "If a node fails because it calls a `GraphModule` in which a node fails, that inner node is meant.",
    case="a node of a traced module inside",
)
@wrong("names_the_node", says="of the model itself, which only calls what fails", read=DOWN)
def runs_an_interpreter_of_the_module_alone(traced, *inputs):
    draft, failed = copy.deepcopy(traced), []
    try:
        Notes(draft, "", failed).run(*inputs)
    except Exception:
        return failed[0]
    return None


class GoesDown(Notes):
    """Goes on in a node that calls a traced module."""

    def call_module(self, target, args, kwargs):
        called = self.module.get_submodule(target)
        if not isinstance(called, fx.GraphModule):
            return super().call_module(target, args, kwargs)
        return GoesDown(called, f"{self.path}.{target}".lstrip("."), self.failed).run(*args)


@breaks(
    "that of `traced`, and that of each `fx.GraphModule` inside which a node calls.",
    case="a traced module inside a Sequential",
)
@wrong("names_the_node", says="names node `blocks` of the model itself, which only calls what fails", read=DOWN)
def goes_down_where_a_node_calls_a_traced_module(traced, *inputs):
    draft, failed = copy.deepcopy(traced), []
    try:
        GoesDown(draft, "", failed).run(*inputs)
    except Exception:
        return failed[0]
    return None


@breaks("The qualified name is that of `named_modules()`:", case="several levels, nodes with names of their own")
@wrong("names_the_node", says="returns 'inner' as a path: no traced module in the model has it", read=LINE)
def gives_the_name_in_the_parent(traced, *inputs):
    """As the qualified name in the parent, of which there may be another."""
    draft, failed = copy.deepcopy(traced), []
    for path, part in traced_in(draft).items():
        part.forward = Notes(part, path.removesuffix(".block").rpartition(".")[2], failed).run
    try:
        draft(*inputs)
    except Exception:
        name, node = failed[0]
        paths = [path for path in traced_in(traced) if path.split(".")[-1] == name]
        return (paths or [name])[0], node
    return None


@breaks("Run the *graphs* on the inputs:", case="an edit that was not compiled, three levels deep")
@wrong("names_the_node", says="(an edit that was not compiled, three levels deep): it returns None", read=LINE)
def asks_a_call_first_whether_anything_fails(traced, *inputs):
    """A call runs the code, which is older than the graph."""
    try:
        traced.forward(*inputs)
    except Exception:
        return gives_each_copied_class_a_forward(traced, *inputs)
    return None


@breaks("If no node fails", case="a graph that was mended, not compiled")
@wrong("names_the_node", says="(a graph that was mended, not compiled): it names a node, and no node", read=LINE)
def trusts_a_call_that_raises(traced, *inputs):
    found = gives_each_copied_class_a_forward(traced, *inputs)
    with contextlib.suppress(Exception):
        if found is None:
            traced.forward(*inputs)
            return None
    return found or ("", "output")


@breaks("its code, its modules,", case="an edit that was not compiled, three levels deep")
@wrong("left_alone", says="`near.blocks.0`, a traced module inside, was compiled", read=DOWN)
def compiles_everything_first(traced, *inputs):
    for part in traced_in(traced).values():
        part.recompile()
    return gives_each_copied_class_a_forward(traced, *inputs)


@breaks("Leave `traced` as it is:", case="a node of the module itself")
@wrong("input_unchanged", says="has a new attribute `forward`")
def hides_the_forward_of_the_module_itself(traced, *inputs):
    failed = []
    for path, part in traced_in(traced).items():
        part.forward = Notes(part, path, failed).run
    try:
        traced(*inputs)
    except Exception:
        return failed[0]
    return None


@breaks(
    "and what a run updates, such as the statistics of a batch norm.",
    case="a batch norm that updates, then fails in training",
)
@wrong("input_unchanged", says="its weight `norm.running_mean` has other values")
def tidies_up_after_itself(traced, *inputs):
    """No forward is left behind; what the run wrote is."""
    failed = []
    for path, part in traced_in(traced).items():
        part.forward = Notes(part, path, failed).run
    try:
        traced(*inputs)
    except Exception:
        return failed[0]
    finally:
        for part in traced_in(traced).values():
            del part.forward
    return None


@wrong("left_alone", says="The graph of the module has another owner now", read=COPY)
def works_on_a_shallow_copy(traced, *inputs):
    return gives_each_copied_class_a_forward(copy.copy(traced), *inputs)


@breaks(
    "the qualified name of the `GraphModule` in whose graph the node is, and the name of the node.",
    case="a node of the module itself",
)
@wrong("names_the_node", says="neither None nor a pair of texts")
def returns_the_name_alone(traced, *inputs):
    found = gives_each_copied_class_a_forward(traced, *inputs)
    return found and found[1]


@breaks("return a pair of texts:", case="a node of the module itself")
@wrong("names_the_node", says="neither None nor a pair of texts")
def returns_the_node(traced, *inputs):
    found = gives_each_copied_class_a_forward(traced, *inputs)
    if found is None:
        return None
    path, name = found
    return path, next(node for node in traced.get_submodule(path).graph.nodes if node.name == name)


@breaks("If no node fails, return `None`.", case="nothing that fails")
@wrong("names_the_node", says="and no node of the graphs fails: None was asked")
def returns_the_output_where_nothing_fails(traced, *inputs):
    return gives_each_copied_class_a_forward(traced, *inputs) or ("", "output")


@breaks("on the inputs:", case="two inputs that do not fit")
@wrong("names_the_node", says="(two inputs that do not fit): it returns None", read=LINE)
def runs_without_inputs_that_are_read_by_name(traced, *inputs):
    """Only the first of the inputs is passed on, and the rest counts as a success."""
    try:
        found = gives_each_copied_class_a_forward(traced, inputs[0], *(torch.ones(()) for _ in inputs[1:]))
    except RuntimeError:
        return None
    return found


@breaks(
    "A node that calls a layer of another class, such as `nn.Linear`, is itself the node that fails.",
    case="a layer that fails",
)
@wrong("names_the_node", says="(a layer that fails): it returns 'near.blocks.0.up' as a path", read=LINE)
def goes_into_layers_too(traced, *inputs):
    failed, draft = [], copy.deepcopy(traced)
    for path, part in traced_in(draft).items():
        part.forward = Notes(part, path, failed).run
    try:
        draft(*inputs)
    except Exception:
        path, name = failed[0]
        node = next(node for node in traced.get_submodule(path).graph.nodes if node.name == name)
        return (f"{path}.{node.target}", "output") if node.op == "call_module" else (path, name)
    return None


@breaks("If a node raises an error, of any class below `Exception`", case="an error of another class")
@wrong("names_the_node", says="(an error of another class): it returns None", read=LINE)
def notes_one_class_of_errors(traced, *inputs):
    draft, failed = copy.deepcopy(traced), []
    for path, part in traced_in(draft).items():
        part.forward = Notes(part, path, failed).run
    try:
        draft(*inputs)
    except RuntimeError:
        return failed[0]
    except Exception:
        return None


@breaks("of any class below `Exception`", case="an error of another class")
@wrong("ends well", says="your code raises RefusedError: refused")
def catches_three_classes_of_errors(traced, *inputs):
    draft, failed = copy.deepcopy(traced), []
    for path, part in traced_in(draft).items():
        part.forward = Notes(part, path, failed).run
    try:
        draft(*inputs)
    except (RuntimeError, TypeError, ValueError):
        return failed[0]
    return None


@breaks("Run the *graphs* on the inputs:", case="a batch norm that updates, then fails in training")
@wrong("names_the_node", says="what a run in eval mode gives: leave each module in the mode", read=LINE)
def runs_the_copy_in_eval_mode(traced, *inputs):
    return gives_each_copied_class_a_forward(copy.deepcopy(traced).eval(), *inputs)


@breaks('it begins at `traced`, which itself is `""`.', case="a node of the module itself")
@wrong("names_the_node", says="as a path: no traced module in the model has it", read=LINE)
def calls_the_module_itself_by_its_class(traced, *inputs):
    found = gives_each_copied_class_a_forward(traced, *inputs)
    return found and (found[0] or type(traced).__name__, found[1])


@breaks("is itself the node that fails.", case="a layer behind a traced module")
@wrong("names_the_node", says="(a layer behind a traced module): it names node `output` of `blocks.0`", read=LINE)
def takes_the_last_module_that_began(traced, *inputs):
    """As if a traced module that has ended were still running."""
    begun, draft = [], copy.deepcopy(traced)

    class Begins(fx.Interpreter):
        path = ""

        def run_node(self, n):
            begun.append((self.path, n.name))
            return super().run_node(n)

    for path, part in traced_in(draft).items():
        runner = Begins(part)
        runner.path, part.forward = path, runner.run
    try:
        draft(*inputs)
    except Exception:
        return begun[-1]
