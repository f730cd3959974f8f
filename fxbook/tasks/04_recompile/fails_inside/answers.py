"""Answers to 04-fails-inside."""

import contextlib
import copy

from torch import fx

from fxbook.tasks.answering import breaks, right, wrong

DOWN = "04_recompile#recompile-goes-down-to-children-not-to-everything-inside"
LINE = "04_recompile#find-the-line-that-failed"


def traced_in(model):
    return {path: part for path, part in model.named_modules() if isinstance(part, fx.GraphModule)}


class Notes(fx.Interpreter):
    """If a node raises, appends the path of its module and the name of the node to a list."""

    def __init__(self, module, path, failed):
        super().__init__(module)
        self.path, self.failed = path, failed

    def run_node(self, n):
        try:
            return super().run_node(n)
        except Exception:
            self.failed.append((self.path, n.name))
            raise


def note_failures(model):
    """Let each GraphModule run its graph; return a list that gets the path and the name of each node that raises."""
    failed = []
    for path, part in traced_in(model).items():
        part.forward = Notes(part, path, failed).run
    return failed


def first_failure(run, inputs, failed):
    """The first node that a run adds to ``failed``, or ``None`` if nothing raises."""
    try:
        run(*inputs)
    except Exception:
        return failed[0]
    return None


@right
def gives_each_class_a_forward(traced, *inputs):
    failed = []
    draft = copy.deepcopy(traced)
    for path, part in traced_in(draft).items():
        type(part).forward = lambda self, *args, path=path: Notes(self, path, failed).run(*args)
    return first_failure(draft, inputs, failed)


@right
def walks_the_traceback(traced, *inputs):
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
    return first_failure(draft, inputs, failed)


@breaks(
    "If a node fails because it calls a `GraphModule` in which a node fails, report that inner node.",
    case="a node in a traced submodule",
)
@wrong("names_the_node", says="of the model itself, which only calls the module that fails", read=DOWN)
def runs_an_interpreter_of_the_module_alone(traced, *inputs):
    failed = []
    return first_failure(Notes(copy.deepcopy(traced), "", failed).run, inputs, failed)


class GoesDown(Notes):
    """Enters the traced module that a node calls."""

    def call_module(self, target, args, kwargs):
        called = self.module.get_submodule(target)
        if not isinstance(called, fx.GraphModule):
            return super().call_module(target, args, kwargs)
        return GoesDown(called, f"{self.path}.{target}".lstrip("."), self.failed).run(*args)


@breaks(
    "and the graph of each `fx.GraphModule` inside it when that module is called.",
    case="a traced module inside a Sequential",
)
@wrong("names_the_node", says="`blocks` of the model itself, which only calls the module that fails", read=DOWN)
def goes_down_where_a_node_calls_a_traced_module(traced, *inputs):
    failed = []
    return first_failure(GoesDown(copy.deepcopy(traced), "", failed).run, inputs, failed)


@breaks("The qualified name is the one in `named_modules()`:", case="several levels, and renamed nodes")
@wrong("names_the_node", says="returns 'inner', but no traced module in the model has this qualified name", read=LINE)
def returns_the_name_in_the_parent(traced, *inputs):
    draft, failed = copy.deepcopy(traced), []
    for path, part in traced_in(draft).items():
        part.forward = Notes(part, path.removesuffix(".block").rpartition(".")[2], failed).run
    if found := first_failure(draft, inputs, failed):
        paths = [path for path in traced_in(traced) if path.split(".")[-1] == found[0]]
        return (paths or found)[0], found[1]
    return None


@breaks("Run the *graphs* on the inputs", case="an edit that was not compiled, three levels deep")
@wrong("names_the_node", says="your function returns None", read=LINE)
def looks_only_if_a_call_raises(traced, *inputs):
    try:
        traced.forward(*inputs)
    except Exception:
        return gives_each_class_a_forward(traced, *inputs)
    return None


@breaks("If no node fails, return `None`.", case="a graph that was fixed but not compiled")
@wrong("names_the_node", says="fixed but not compiled): your function names a node, but no node", read=LINE)
def trusts_a_call_that_raises(traced, *inputs):
    found = gives_each_class_a_forward(traced, *inputs)
    with contextlib.suppress(Exception):
        if found is None:
            traced.forward(*inputs)
            return None
    return found or ("", "output")


@breaks("its code, its modules,", case="an edit that was not compiled, three levels deep")
@wrong("left_alone", says="the traced submodule `near.blocks.0` was compiled", read=DOWN)
def compiles_everything_first(traced, *inputs):
    for part in traced_in(traced).values():
        part.recompile()
    return gives_each_class_a_forward(traced, *inputs)


@breaks(
    "Leave `traced` as it is:",
    "and everything that a run updates, such as the statistics of a batch norm.",
    case="a batch norm that updates, then fails in training mode",
)
@wrong("input_unchanged", says="its weight `norm.running_mean` has different values")
def removes_only_the_forwards(traced, *inputs):
    found = first_failure(traced, inputs, note_failures(traced))
    for part in traced_in(traced).values():
        del part.forward
    return found


@breaks("return a pair of strings:", "and the name of the node.", case="a node of the module itself")
@wrong("names_the_node", says="neither None nor a pair of strings")
def returns_the_name_alone(traced, *inputs):
    found = gives_each_class_a_forward(traced, *inputs)
    return found and found[1]


@breaks("If a node raises an `Exception` of any class", case="an error of another class")
@wrong("names_the_node", says="(an error of another class): your function returns None", read=LINE)
def catches_one_class_of_errors(traced, *inputs):
    draft = copy.deepcopy(traced)
    failed = note_failures(draft)
    try:
        draft(*inputs)
    except RuntimeError:
        return failed[0]
    except Exception:
        return None


@breaks(
    "Leave each module in its own mode, and gradients on.",
    case="a batch norm that updates, then fails in training mode",
)
@wrong("names_the_node", says="the answer for a run in eval mode: leave each module in its own mode", read=LINE)
def runs_the_copy_in_eval_mode(traced, *inputs):
    return gives_each_class_a_forward(copy.deepcopy(traced).eval(), *inputs)


@breaks('it begins at `traced`, whose own name is `""`.', case="a node of the module itself")
@wrong("names_the_node", says="but no traced module in the model has this qualified name", read=LINE)
def calls_the_root_by_its_class(traced, *inputs):
    found = gives_each_class_a_forward(traced, *inputs)
    return found and (found[0] or type(traced).__name__, found[1])


@breaks(
    "A node that calls a layer of another class, such as `nn.Linear`, is itself the node that fails.",
    case="a layer after a traced module",
)
@wrong("names_the_node", says="your function names node `output` of `blocks.0`", read=LINE)
def returns_the_last_node_that_began(traced, *inputs):
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
