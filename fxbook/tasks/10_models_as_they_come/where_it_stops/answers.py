"""Answers to 10-where-it-stops: the innermost module whose ``forward`` raised the error that stops a trace."""

import traceback

from torch import fx, nn

from fxbook.tasks.answering import breaks, right, wrong

SHAPE, NOTHING = "a network that asks about a shape", "a network that can be traced"


def stop(model, tracer):
    """The error that stops the trace, or ``None``."""
    try:
        tracer.trace(model)
    except Exception as error:
        return error
    return None


def watching(note, leaves=False):
    """A Tracer that calls ``note(tracer, error, module)`` for each error that a module's ``forward`` raises."""

    class Noting(fx.Tracer):
        def call_module(self, m, forward, args, kwargs):
            try:
                return super().call_module(m, forward, args, kwargs)
            except Exception as error:
                if leaves or not self.is_leaf_module(m, self.path_of_module(m)):
                    note(self, error, m)
                raise

    return Noting()


def first(tracer, error, module):
    """Store the name of the first module on the error."""
    error.stopped_at = getattr(error, "stopped_at", tracer.path_of_module(module))


def noted(error, name="stopped_at"):
    return None if error is None else getattr(error, name, "")


def last_frame(model, is_forward):
    """The name of the module whose method runs in the error's last frame that ``is_forward`` accepts."""
    names = {module: name for name, module in model.named_modules()}
    error, inner = stop(model, fx.Tracer()), ""
    for frame, _ in traceback.walk_tb(error.__traceback__ if error else None):
        owner = frame.f_locals.get("self")
        if is_forward(frame.f_code.co_name) and isinstance(owner, nn.Module):
            inner = names.get(owner, inner)
    return None if error is None else inner


@right
def lists_the_errors(model):
    found = []

    def note(tracer, error, module):
        if not any(known is error for known, _ in found):
            found.append((error, tracer.path_of_module(module)))

    error = stop(model, watching(note))
    return None if error is None else next((path for known, path in found if known is error), "")


@right
def reads_the_frames(model):
    return last_frame(model, lambda name: name == "forward")


@right
def wraps_each_forward(model):
    """Wraps the ``forward`` that a Tracer passes on, because the Tracer does not call it for a leaf."""

    class Inside(fx.Tracer):
        def call_module(self, m, forward, args, kwargs):
            path = self.path_of_module(m)

            def watched(*args, **kwargs):
                try:
                    return forward(*args, **kwargs)
                except Exception as error:
                    if getattr(error, "path", None) is None:
                        error.path = path
                    raise

            return super().call_module(m, watched, args, kwargs)

    return noted(stop(model, Inside()), "path")


@right
def replaces_call_module_on_the_object(model):
    tracer = fx.Tracer()
    usual = tracer.call_module

    def watched(m, *given):
        try:
            return usual(m, *given)
        except Exception as error:
            if not tracer.is_leaf_module(m, tracer.path_of_module(m)):
                first(tracer, error, m)
            raise

    tracer.call_module = watched
    return noted(stop(model, tracer))


@breaks("of the innermost module", case=SHAPE)
@wrong("the_module", says="but the error was raised in a module inside it")
def returns_the_outermost(model):
    def note(tracer, error, module):
        error.stopped_at = tracer.path_of_module(module)

    return noted(stop(model, watching(note)))


@breaks("If the trace succeeds, return `None`.", case=NOTHING)
@wrong("the_module", says="You return a name, but the trace of this model succeeds.")
def returns_an_empty_name_for_none(model):
    return getattr(stop(model, watching(first)), "stopped_at", "")


@breaks('For `model` itself the name is `""`.', case="a network that asks in its own forward")
@wrong("the_module", says="you return None, but the trace stops in the model itself")
def forgets_the_model_itself(model):
    return getattr(stop(model, watching(first)), "stopped_at", None)


@breaks("such an error does not stop the trace.", case="a caught error, and an error in another module")
@wrong("the_module", says="but the model catches the error from there: another error stops the trace.")
def keeps_the_first_name_on_the_tracer(model):
    """Keeps it even if the model catches the error."""

    def note(tracer, error, module):
        tracer.first = getattr(tracer, "first", tracer.path_of_module(module))

    tracer = watching(note)
    return None if stop(model, tracer) is None else getattr(tracer, "first", "")


@breaks(
    "A module can re-raise an error that it caught:",
    "what counts is where the error was first raised.",
    case="an error that is re-raised",
)
@wrong("the_module", says="you return the model itself, but the error was raised in a module inside it")
def remembers_the_latest_error_only(model):
    """An earlier error can be raised again after the latest one."""

    def note(tracer, error, module):
        if error is not getattr(tracer, "latest", None):
            tracer.latest, tracer.name = error, tracer.path_of_module(module)

    tracer = watching(note)
    error = stop(model, tracer)
    return None if error is None else tracer.name if error is getattr(tracer, "latest", None) else ""


@breaks("`model` can catch an error from a module and go on:", case="a caught error, and no other error")
@wrong("the_module", says="but the trace of this model succeeds. The model catches every error.")
def counts_errors_that_were_caught(model):
    found = []

    def note(tracer, error, module):
        first(tracer, error, module)
        found.append(error)

    return noted(stop(model, watching(note)) or next(iter(found), None))


@breaks(
    "A module can catch an error and raise a new one:",
    "what counts is where the new error was raised.",
    case="a new error in place of a caught one",
)
@wrong("the_module", says="but the model catches the error from there: another error stops the trace.")
def follows_the_cause(model):
    """Names the module in which the first of two errors was raised."""
    error = stop(model, watching(first))
    while error and error.__cause__ is not None:
        error = error.__cause__
    return noted(error)


@breaks(
    "A leaf is never the answer, because its `forward` does not run.",
    case="a leaf whose argument no node can have",
)
@wrong("the_module", says="`blocks.1.skip`, which is a leaf: its `forward` does not run")
def names_a_leaf(model):
    return noted(stop(model, watching(first, leaves=True)))


@breaks("with a Tracer that has the same leaves as `fx.Tracer`.", case="a module without layers")
@wrong("the_module", says="(a module without layers): you return None, but the trace stops in `blocks.1`")
def treats_modules_without_layers_as_leaves(model):
    tracer = watching(first)
    tracer.is_leaf_module = lambda m, module_qualified_name: not [*m.children()]
    return noted(stop(model, tracer))


@breaks("whose `forward` was running", case="a method of a module whose forward does not run")
@wrong("the_module", says="`blocks.1.backbone`, whose `forward` is not running when the error that stops the trace")
def treats_each_method_as_a_forward(model):
    return last_frame(model, lambda name: name.startswith("forward"))


@wrong("input_unchanged", says="The model that was given has been changed")
def sets_an_attribute_of_the_model(model):
    model.stopped = True
    return noted(stop(model, watching(first)))


@breaks("an error of any class", case="an error of class ImportError")
@wrong("the_module", says="you return None, but the trace stops in `blocks.1`")
def stores_the_name_where_some_errors_store_their_own(model):
    def note(tracer, error, module):
        if not hasattr(error, "name"):
            error.name = tracer.path_of_module(module)

    return noted(stop(model, watching(note)), "name")
