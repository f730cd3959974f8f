"""Answers to 04-every-module-inside."""

import copy

from torch import fx

from fxbook.tasks.answering import breaks, right, wrong

DOWN = "04_recompile#recompile-goes-down-to-children-not-to-everything-inside"


@right
def recurses_into_children(model):
    for child in model.children():
        recurses_into_children(child)
    if hasattr(model, "recompile"):
        model.recompile()


@right
def compiles_what_is_stale(model):
    found = filter(lambda module: isinstance(module, fx.GraphModule), model.modules())
    for module in found:
        if module.code != module.graph.python_code("self").src:
            module.recompile()
    return model


@right
def keeps_a_list_of_modules_to_visit(model):
    waiting = [model]
    while waiting:
        module = waiting.pop()
        waiting += module._modules.values()
        if isinstance(module, fx.GraphModule):
            module.recompile()


@right
def looks_up_the_method(model):
    for path, _ in model.named_modules():
        getattr(model.get_submodule(path), "recompile", lambda: None)()


@breaks("at any depth.", case="several levels")
@wrong("all_up_to_date", says="still stale: `outer.block.inner.block`", read=DOWN)
def goes_two_levels_down(model):
    children = list(model.children())
    for module in (model, *children, *(inner for child in children for inner in child.children())):
        if isinstance(module, fx.GraphModule):
            module.recompile()


@breaks("Recompile every `fx.GraphModule` inside `model`", case="the module of the chapter")
@wrong("all_up_to_date", says="still stale: `blocks.0`", read=DOWN)
def trusts_the_root(model):
    if isinstance(model, fx.GraphModule):
        model.recompile()


@breaks("The model itself may", case="the module of the chapter")
@wrong("all_up_to_date", says="The model itself is still stale.", read=DOWN)
def forgets_the_root(model):
    for child in model.children():
        for module in child.modules():
            if isinstance(module, fx.GraphModule):
                module.recompile()


@breaks("may or may not be one.", case="a root that was not traced")
@wrong("all_up_to_date", says="still stale: `0.block`", read=DOWN)
def stops_at_a_root_that_was_not_traced(model):
    if not isinstance(model, fx.GraphModule):
        return
    for module in model.modules():
        if isinstance(module, fx.GraphModule):
            module.recompile()


@breaks("the edits in them should take effect.", case="the module of the chapter")
@wrong("all_up_to_date", says="You return another module", read=DOWN)
def returns_a_copy(model):
    return copy.deepcopy(model)


@breaks("Do not change the graphs:", case="the module of the chapter")
@wrong("graphs_kept", says="The graph of the model itself has changed")
def puts_the_traced_code_back(model):
    for module in model.modules():
        if isinstance(module, fx.GraphModule):
            module.graph = fx.symbolic_trace(module).graph


@wrong("ends well", says="'Neighbours' object has no attribute 'recompile'")
def takes_any_module_with_a_graph(model):
    for module in model.modules():
        if hasattr(module, "graph"):
            module.recompile()


@wrong("all_up_to_date", says="The traced module `near` is gone", read=DOWN)
def traces_again_in_place_of_compiling(model):
    for path, module in list(model.named_modules()):
        if path and isinstance(module, fx.GraphModule):
            model.set_submodule(path, fx.symbolic_trace(module))
    if isinstance(model, fx.GraphModule):
        model.recompile()
