"""Answers to 05-keep-a-module-whole."""

import copy

from torch import fx, nn

from fxbook.tasks.answering import breaks, right, wrong

FIXED = "05_control_flow_limits#fix-an-argument-concrete_args"


def tracing(model, is_leaf, **settings):
    """Trace with a Tracer for which ``is_leaf(module, path, torch's own decision)`` decides what is a leaf."""

    class Keeping(fx.Tracer):
        def is_leaf_module(self, module, path):
            return is_leaf(module, path, super().is_leaf_module(module, path))

    return fx.GraphModule(model, Keeping().trace(model, **settings))


def recording(model, kind, path_of=lambda tracer, module, args: tracer.path_of_module(module)):
    """Trace with a Tracer that records each call to a module to keep; ``path_of`` returns the target."""

    class Recording(fx.Tracer):
        def call_module(self, m, forward, args, kwargs):
            if isinstance(m, kind):
                return self.create_proxy("call_module", path_of(self, m, args), args, kwargs)
            return super().call_module(m, forward, args, kwargs)

    return fx.GraphModule(model, Recording().trace(model))


@right
def records_the_call_itself(model, kind):
    return recording(model, kind)


@right
def gives_a_tracer_another_method(model, kind):
    tracer = fx.Tracer()
    usual = tracer.is_leaf_module
    tracer.is_leaf_module = lambda module, path: issubclass(type(module), kind) or usual(module, path)
    return fx.GraphModule(model, tracer.trace(model), "Kept")


@right
def makes_the_class_with_type(model, kind):
    usual = fx.Tracer.is_leaf_module
    methods = {"is_leaf_module": lambda self, m, path: bool(isinstance(m, (kind,)) + usual(self, m, path))}
    return fx.GraphModule(model, type("Keeping", (fx.Tracer,), methods)().trace(model))


@right
def lists_the_objects_to_keep(model, kind):
    kept = [module for module in model.modules() if isinstance(module, kind)]

    class Knowing(fx.Tracer):
        def is_leaf_module(self, m, module_qualified_name):
            if any(m is known for known in kept):
                return True
            return super().is_leaf_module(m, module_qualified_name)

    graph = Knowing().trace(model)
    graph.lint()
    return fx.GraphModule(model, graph)


@wrong("ends well", says="tracing goes into `blocks.0.inner`, which is of the class passed as `kind`")
def hard_codes_one_path(model, kind):
    return tracing(model, lambda module, path, leaf: leaf or path == "sharpen")


@breaks("so decide by `kind`.", case="nested modules, one of a subclass and one called twice")
@wrong("kept_whole", node="blocks_2_inner", says="keeps a `SharpenOnce` whole, which the task does not ask for")
def looks_for_class_names(model, kind):
    names = {kind.__name__, "Annealed"}
    return tracing(model, lambda module, path, leaf: leaf or any(name in type(module).__name__ for name in names))


@breaks("or of a subclass", case="nested modules, one of a subclass and one called twice")
@wrong("ends well", says="tracing goes into `blocks.1.inner`, which is of the class passed as `kind`")
def looks_at_the_direct_bases(model, kind):
    return tracing(model, lambda module, path, leaf: leaf or kind in (type(module), *type(module).__bases__))


@breaks("All other modules are treated as `symbolic_trace` treats them.", case="the classifier")
@wrong("kept_whole", node="body_weight", says="`torch.nn.Linear` is called 0 times, not 2 times")
def forgets_the_layers_of_torch(model, kind):
    return tracing(model, lambda module, path, leaf: isinstance(module, kind))


@breaks("fix any argument.", case="the classifier")
@wrong("nothing_fixed", node="_assert_is_none", says="Node `_assert_is_none` checks an argument that was", read=FIXED)
def fixes_the_argument_at_none(model, kind):
    return tracing(model, lambda module, path, leaf: leaf or isinstance(module, kind), concrete_args={"times": None})


@wrong("recompiled", says="the compiled code is stale", read="00_first_graph#change-one-node")
def takes_an_argument_out_and_forgets_to_recompile(model, kind):
    traced = tracing(model, lambda module, path, leaf: leaf or isinstance(module, kind))
    for node in traced.graph.find_nodes(op="placeholder"):
        if node.target == "times":
            for user in list(node.users):
                user.args = user.args[:1]
            traced.graph.erase_node(node)
    return traced


@wrong("same_result", node="cat", says="(containers of torch): the result is not the one asked for")
def finds_the_path_by_the_class(model, kind):
    paths = {type(module): path for path, module in model.named_modules() if isinstance(module, kind)}
    return recording(model, kind, lambda tracer, module, args: paths[type(module)])


@wrong("no_dead_nodes", node="getattr_1", says="is dead", read="02_insertion_points#a-new-node-needs-a-user")
def prints_what_goes_in(model, kind):
    def path_of(tracer, module, args):
        print(args[0].shape)
        return tracer.path_of_module(module)

    return recording(model, kind, path_of)


@breaks("The result shares the weights of the model.", case="the classifier")
@wrong("shares_weights", node="body", says="`body.weight` is not the object that the model holds")
def copies_the_model_first(model, kind):
    return tracing(copy.deepcopy(model), lambda module, path, leaf: leaf or isinstance(module, kind))


@breaks("Do not rewrite the model", case="the classifier")
@wrong("input_unchanged", says="The model that was given has been changed: `sharpen` has a new attribute `whole`")
def sets_an_attribute_on_the_modules(model, kind):
    for module in model.modules():
        if isinstance(module, kind):
            module.whole = True
    return tracing(model, lambda module, path, leaf: leaf or hasattr(module, "whole"))


def cannot_be_traced(module):
    if list(module.children()):
        return False
    try:
        fx.symbolic_trace(module)
    except Exception:
        return True
    return False


@breaks("each call to a module of class `kind`, or of a subclass", case="containers of torch")
@wrong("kept_whole", node="residual_0", says="(containers of torch): `Residual` is called 0 times, not once")
def forgets_subclasses_that_can_be_traced(model, kind):
    return tracing(model, lambda module, path, leaf: leaf or type(module) is kind or cannot_be_traced(module))


@breaks(
    "All other modules are treated as `symbolic_trace` treats them.", case="a subclass of a layer that tracing enters"
)
@wrong("kept_whole", node="entered", says="keeps a `Scaled` whole, which the task does not ask for")
def keeps_the_base_of_the_kind_too(model, kind):
    bases = tuple(base for base in kind.__bases__ if base is not nn.Module)
    return tracing(model, lambda module, path, leaf: leaf or isinstance(module, (kind, *bases)))


@wrong("all_in_sight", node="forward", says="Node `forward` calls a function that holds a ")
def keeps_the_model_whole_in_a_function(model, kind):
    def forward(x):
        return model(x)

    graph = fx.Graph()
    graph.output(graph.call_function(forward, (graph.placeholder("x"),)))
    return fx.GraphModule(model, graph)
