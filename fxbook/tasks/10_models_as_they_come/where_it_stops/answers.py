"""Answers to 10-where-it-stops."""

import contextlib
import traceback

from torch import fx, nn

from fxbook.tasks.answering import breaks, right, wrong


def stop(model, tracer):
    """The error that stops the trace, or None."""
    try:
        tracer.trace(model)
    except Exception as error:
        return error
    return None


# ---- right -----------------------------------------------------------------------------------------------------------


def is_leaf(tracer, module):
    return tracer.is_leaf_module(module, tracer.path_of_module(module))


@right
def keeps_a_table_by_error(model):
    found = []

    class Noting(fx.Tracer):
        def call_module(self, m, forward, args, kwargs):
            try:
                return super().call_module(m, forward, args, kwargs)
            except Exception as error:
                if not is_leaf(self, m) and not any(noted is error for noted, _ in found):
                    found.append((error, self.path_of_module(m)))
                raise

    error = stop(model, Noting())
    if error is None:
        return None
    return next((path for noted, path in found if noted is error), "")


@right
def reads_the_frames(model):
    """The last frame of a `forward` whose `self` is a module of the model."""
    names = {module: name for name, module in model.named_modules()}
    error = stop(model, fx.Tracer())
    if error is None:
        return None
    inner = ""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        owner = frame.f_locals.get("self")
        if frame.f_code.co_name == "forward" and isinstance(owner, nn.Module):
            inner = names.get(owner, inner)
    return inner


@right
def wraps_what_runs_inside(model):
    """A leaf never calls it."""

    class Inside(fx.Tracer):
        def call_module(self, m, forward, args, kwargs):
            path = self.path_of_module(m)

            def told(*args, **kwargs):
                try:
                    return forward(*args, **kwargs)
                except Exception as error:
                    if getattr(error, "path", None) is None:
                        error.path = path
                    raise

            return super().call_module(m, told, args, kwargs)

    error = stop(model, Inside())
    return None if error is None else getattr(error, "path", "")


@right
def gives_a_tracer_another_method(model):
    tracer = fx.Tracer()
    usual = tracer.call_module

    def told(m, forward, args, kwargs):
        with leaving(tracer, m):
            return usual(m, forward, args, kwargs)

    tracer.call_module = told
    error = stop(model, tracer)
    return None if error is None else getattr(error, "at", "")


@contextlib.contextmanager
def leaving(tracer, module):
    try:
        yield
    except Exception as error:
        if not is_leaf(tracer, module) and not hasattr(error, "at"):
            error.at = tracer.path_of_module(module)
        raise


# ---- wrong -----------------------------------------------------------------------------------------------------------


def watching(note):
    """A Tracer that calls note(tracer, error, module) for each error that leaves the `forward` of a module."""

    class Noting(fx.Tracer):
        def call_module(self, m, forward, args, kwargs):
            try:
                return super().call_module(m, forward, args, kwargs)
            except Exception as error:
                if not is_leaf(self, m):
                    note(self, error, m)
                raise

    return Noting()


def first(tracer, error, module):
    """Note the first name on the error."""
    error.stopped_at = getattr(error, "stopped_at", tracer.path_of_module(module))


@breaks("Trace `model` with a Tracer that has the leaves of `fx.Tracer`.", case="a network that asks about a shape")
@wrong("the_module", says="None was returned, but the trace stops in `")
def keeps_every_module_whole(model):
    class Whole(fx.Tracer):
        def is_leaf_module(self, m, module_qualified_name):
            return True

    error = stop(model, Whole())
    return None if error is None else ""


@breaks("of the innermost module", case="a network that asks about a shape")
@wrong("the_module", says="but the error was raised in a module inside it")
def returns_the_outermost(model):
    def note(tracer, error, module):
        error.stopped_at = tracer.path_of_module(module)

    error = stop(model, watching(note))
    return None if error is None else getattr(error, "stopped_at", "")


@breaks("If the trace succeeds, return `None`.", case="a network that can be traced")
@wrong("the_module", says="The trace of this model succeeds, so None was asked")
def returns_an_empty_name_for_none(model):
    return getattr(stop(model, watching(first)), "stopped_at", "")


@breaks("return the qualified name", case="a network that asks about a shape")
@wrong("the_module", says="The answer is not the qualified name of a module of the model")
def returns_the_class(model):
    def note(tracer, error, module):
        error.kind = getattr(error, "kind", type(module).__name__)

    error = stop(model, watching(note))
    return None if error is None else getattr(error, "kind", "")


@breaks("If an error of any class stops it", case="a network that counts its rows")
@wrong(
    "ends well",
    says="TypeError",
    read="05_control_flow_limits#typeerror-proxy-object-cannot-be-interpreted-as-an-integer",
)
def catches_one_class_only(model):
    class Noting(fx.Tracer):
        def call_module(self, m, forward, args, kwargs):
            try:
                return super().call_module(m, forward, args, kwargs)
            except fx.proxy.TraceError as error:
                error.stopped_at = getattr(error, "stopped_at", self.path_of_module(m))
                raise

    try:
        Noting().trace(model)
    except fx.proxy.TraceError as error:
        return getattr(error, "stopped_at", "")
    return None


@breaks("whose `forward` was running when this error was raised.", case="a network that asks about a shape")
@wrong("the_module", says="the module that you return is not running")
def returns_another_of_its_class(model):
    def note(tracer, error, module):
        alike = [name for name, other in model.named_modules() if type(other) is type(module) and other is not module]
        error.stopped_at = getattr(error, "stopped_at", next(iter(alike), ""))

    error = stop(model, watching(note))
    return None if error is None else getattr(error, "stopped_at", "")


@breaks('For `model` itself the name is `""`;', case="a network that asks itself")
@wrong("the_module", says="one was returned, but the trace stops in the model itself")
def forgets_the_model_itself(model):
    return getattr(stop(model, watching(first)), "stopped_at", None)


@breaks("The qualified name of the module that stops the trace, or None.", case="a network that asks about a shape")
@wrong("the_module", says="The answer is neither a string nor None")
def returns_the_module(model):
    def note(tracer, error, module):
        error.names = getattr(error, "names", [tracer.path_of_module(module)])

    error = stop(model, watching(note))
    return None if error is None else getattr(error, "names", [""])


@breaks("such an error does not stop the trace.", case="a caught error, and another module that asks")
@wrong("the_module", says="an error was raised, but the model caught it: another error stops the trace")
def keeps_the_first_on_the_tracer(model):
    """The name of an error that the model has caught stays there."""

    def note(tracer, error, module):
        tracer.first = getattr(tracer, "first", tracer.path_of_module(module))

    tracer = watching(note)
    return None if stop(model, tracer) is None else getattr(tracer, "first", "")


@breaks(
    "A module can raise a caught error again:",
    "the place where this error was raised first counts.",
    case="an error that is raised again",
)
@wrong("the_module", says="you return the model itself, but the error was raised in a module inside it")
def forgets_the_first_in_the_next_module(model):
    """The error can be raised again after that module."""

    class Noting(fx.Tracer):
        first, depth = "", 0

        def call_module(self, m, forward, args, kwargs):
            if not self.depth:
                self.first = ""
            self.depth += 1
            try:
                return super().call_module(m, forward, args, kwargs)
            except Exception:
                if not is_leaf(self, m):
                    self.first = self.first or self.path_of_module(m)
                raise
            finally:
                self.depth -= 1

    tracer = Noting()
    return None if stop(model, tracer) is None else tracer.first


@breaks("`model` can catch an error of a module and go on:", case="a caught error, and nothing else that asks")
@wrong("the_module", says="succeeds, so None was asked. The model caught each error")
def takes_every_error_for_the_last(model):
    found = []

    def note(tracer, error, module):
        first(tracer, error, module)
        found.append(error)

    error = stop(model, watching(note)) or next(iter(found), None)
    return None if error is None else getattr(error, "stopped_at", "")


@breaks(
    "A module can raise a new error instead of a caught one:",
    "the place where the new one was raised counts.",
    case="an error in place of another",
)
@wrong("the_module", says="an error was raised, but the model caught it: another error stops the trace")
def follows_the_cause(model):
    """To where the first of two errors was raised."""
    error = stop(model, watching(first))
    if error is None:
        return None
    while error.__cause__ is not None:
        error = error.__cause__
    return getattr(error, "stopped_at", "")


@breaks("The `forward` of a leaf does not run.", case="a leaf that is given what no node can hold")
@wrong("the_module", says="`blocks.1.skip`, which is a leaf: its `forward` does not run")
def takes_a_leaf_for_a_module_that_runs(model):
    class Noting(fx.Tracer):
        def call_module(self, m, forward, args, kwargs):
            try:
                return super().call_module(m, forward, args, kwargs)
            except Exception as error:
                first(self, error, m)
                raise

    error = stop(model, Noting())
    return None if error is None else getattr(error, "stopped_at", "")


@breaks("with a Tracer that has the leaves of `fx.Tracer`.", case="a module without layers")
@wrong("the_module", says="(a module without layers): none was returned, but the trace stops in `blocks.1`")
def takes_what_has_no_layers_for_a_leaf(model):
    tracer = watching(first)
    tracer.is_leaf_module = lambda m, module_qualified_name: not [*m.children()]
    error = stop(model, tracer)
    return None if error is None else getattr(error, "stopped_at", "")


@breaks("whose `forward` was running", case="a method of a module that does not run")
@wrong(
    "the_module", says="(a method of a module that does not run): when the error that stops the trace is raised, the"
)
def takes_each_method_for_a_forward(model):
    """The last frame of a method, whose `self` is a module of the model."""
    names = {module: name for name, module in model.named_modules()}
    error = stop(model, fx.Tracer())
    if error is None:
        return None
    inner = ""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        owner = frame.f_locals.get("self")
        if frame.f_code.co_name.startswith("forward") and isinstance(owner, nn.Module):
            inner = names.get(owner, inner)
    return inner


@breaks("if a module has two names, return either.", case="a module with two names")
@wrong("the_module", says="he answer is not the qualified name of a module of the model")
def returns_both_of_two_names(model):
    error = stop(model, watching(first))
    path = getattr(error, "stopped_at", "")
    names = [
        name for name, module in model.named_modules(remove_duplicate=False) if module is model.get_submodule(path)
    ]
    return None if error is None else ", ".join(names)


@wrong("input_unchanged", says="The model that was given has been changed")
def leaves_a_mark_on_the_model(model):
    error = stop(model, watching(first))
    model.stopped = True
    return None if error is None else getattr(error, "stopped_at", "")


@breaks("an error of any class", case="a module without layers")
@wrong("ends well", says="LookupError: the sign of these rows is not known")
def catches_three_classes(model):
    def note(tracer, error, module):
        first(tracer, error, module)

    try:
        watching(note).trace(model)
    except (TypeError, RuntimeError, ValueError) as error:
        return getattr(error, "stopped_at", "")
    return None


@wrong("the_module", says="(an error that is forgotten, and one of its own): in `tried` an error was raised, but")
def knows_errors_by_their_place_in_memory(model):
    names = {}

    class Noting(fx.Tracer):
        def call_module(self, m, forward, args, kwargs):
            try:
                return super().call_module(m, forward, args, kwargs)
            except Exception as error:
                if not is_leaf(self, m):
                    names.setdefault(id(error), self.path_of_module(m))
                raise

    try:
        Noting().trace(model)
    except Exception as error:
        return names.get(id(error), "")
    return None


@breaks("an error of any class", case="an error of class ImportError")
@wrong("the_module", says="one was returned, but the trace stops in `blocks.1`")
def keeps_the_name_where_some_errors_keep_their_own(model):
    def note(tracer, error, module):
        if not hasattr(error, "name"):
            error.name = tracer.path_of_module(module)

    error = stop(model, watching(note))
    return None if error is None else getattr(error, "name", "")


@wrong("the_module", says="in `tried` an error was raised, but the model caught it")
def knows_errors_by_their_message(model):
    names = {}
    error = stop(
        model, watching(lambda tracer, error, module: names.setdefault(str(error), tracer.path_of_module(module)))
    )
    return None if error is None else names.get(str(error), "")
