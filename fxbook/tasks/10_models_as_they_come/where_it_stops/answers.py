"""Answers to 10-where-it-stops."""

import sys
import traceback

from torch import fx, nn

from fxbook.tasks.answering import right, wrong


def stop(model, tracer):
    """The error that stops the trace, or None."""
    try:
        tracer.trace(model)
    except Exception as error:
        return error
    return None


# ---- right -----------------------------------------------------------------------------------------------------------


@right
def keeps_a_stack(model):
    """A name is taken off only where its module returns or its error is caught."""

    class Stacking(fx.Tracer):
        stack = ()

        def call_module(self, m, forward, args, kwargs):
            before = self.stack
            self.stack = (*before, self.path_of_module(m))
            result = super().call_module(m, forward, args, kwargs)
            self.stack = before
            return result

    class Forgetting(Stacking):
        def call_module(self, m, forward, args, kwargs):
            before = self.stack
            try:
                return super().call_module(m, forward, args, kwargs)
            except Exception as error:
                error.stack = getattr(error, "stack", None) or self.stack
                self.stack = before
                raise

    error = stop(model, Forgetting())
    return None if error is None else ("", *getattr(error, "stack", ()))[-1]


@right
def keeps_a_table_by_error(model):
    found = []

    class Noting(fx.Tracer):
        def call_module(self, m, forward, args, kwargs):
            try:
                return super().call_module(m, forward, args, kwargs)
            except Exception as error:
                if not any(noted is error for noted, _ in found):
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
class Finder:
    def __call__(self, model):
        error = stop(model, _Watching())
        return error if error is None else getattr(error, "where", "")


class _Watching(fx.Tracer):
    def call_module(self, m, forward, args, kwargs):
        try:
            return fx.Tracer.call_module(self, m, forward, args, kwargs)
        except BaseException as error:
            error.where = getattr(error, "where", self.path_of_module(m))
            raise


@right
def adds_a_note(model):
    class Noting(fx.Tracer):
        def call_module(self, m, forward, args, kwargs):
            try:
                return super().call_module(m, forward, args, kwargs)
            except Exception as error:
                error.add_note(f"in {self.path_of_module(m)}")
                raise

    error = stop(model, Noting())
    if error is None:
        return None
    notes = [note for note in getattr(error, "__notes__", []) if note.startswith("in ")]
    return notes[0][3:] if notes else ""


@right
def looks_names_up(model):
    names = {id(module): name for name, module in model.named_modules()}

    class Naming(fx.Tracer):
        def call_module(self, m, forward, args, kwargs):
            try:
                return super().call_module(m, forward, args, kwargs)
            except Exception as error:
                vars(error).setdefault("name", names[id(m)])
                raise

    error = stop(model, Naming())
    return None if error is None else vars(error).get("name", "")


@right
def wraps_what_runs_inside(model):
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
        try:
            return usual(m, forward, args, kwargs)
        finally:
            error = sys.exc_info()[1]
            if error is not None and not hasattr(error, "at"):
                error.at = tracer.path_of_module(m)

    tracer.call_module = told
    error = stop(model, tracer)
    return None if error is None else getattr(error, "at", "")


@right
def keeps_the_first_on_the_tracer(model):
    class First(fx.Tracer):
        first = None

        def call_module(self, m, forward, args, kwargs):
            try:
                return super().call_module(m, forward, args, kwargs)
            except Exception:
                self.first = self.first or self.path_of_module(m)
                raise

    tracer = First()
    return None if stop(model, tracer) is None else tracer.first or ""


# ---- wrong -----------------------------------------------------------------------------------------------------------


def watching(note):
    """A Tracer that calls note(tracer, error, module) for each error that leaves a module."""

    class Noting(fx.Tracer):
        first = last = None

        def call_module(self, m, forward, args, kwargs):
            try:
                return super().call_module(m, forward, args, kwargs)
            except Exception as error:
                note(self, error, m)
                raise

    return Noting()


@wrong("the_module", says="None was returned, but the trace stops in `")
def finds_nothing(model):
    return None


@wrong("the_module", says="in which another module is running when the trace stops")
def returns_the_outermost(model):
    def note(tracer, error, module):
        error.path = tracer.path_of_module(module)

    error = stop(model, watching(note))
    return None if error is None else getattr(error, "path", "")


@wrong("the_module", says="The trace of this model succeeds, so None was asked")
def returns_an_empty_name_for_none(model):
    def note(tracer, error, module):
        error.path = getattr(error, "path", tracer.path_of_module(module))

    return getattr(stop(model, watching(note)), "path", "")


@wrong("the_module", says="The answer is not the qualified name of a module of the model")
def returns_the_class(model):
    def note(tracer, error, module):
        error.kind = getattr(error, "kind", type(module).__name__)

    error = stop(model, watching(note))
    return None if error is None else getattr(error, "kind", "")


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
                error.path = getattr(error, "path", self.path_of_module(m))
                raise

    try:
        Noting().trace(model)
    except fx.proxy.TraceError as error:
        return getattr(error, "path", "")
    return None


@wrong("the_module", says="When the trace stops, the module that you return is not running")
def returns_the_last_that_was_called(model):
    """It may have returned already."""

    class Noting(fx.Tracer):
        last = ""

        def call_module(self, m, forward, args, kwargs):
            self.last = self.path_of_module(m)
            return super().call_module(m, forward, args, kwargs)

    tracer = Noting()
    return None if stop(model, tracer) is None else tracer.last


@wrong("the_module", says="one was returned, but the trace stops in the model itself")
def forgets_the_model_itself(model):
    def note(tracer, error, module):
        error.path = getattr(error, "path", tracer.path_of_module(module))

    return getattr(stop(model, watching(note)), "path", None)


@wrong("the_module", says="The answer is neither a string nor None")
def returns_the_module(model):
    def note(tracer, error, module):
        error.names = getattr(error, "names", [tracer.path_of_module(module)])

    error = stop(model, watching(note))
    return None if error is None else getattr(error, "names", [""])


@wrong("input_unchanged", says="The model that was given has been changed")
def leaves_a_mark_on_the_model(model):
    def note(tracer, error, module):
        error.path = getattr(error, "path", tracer.path_of_module(module))

    error = stop(model, watching(note))
    model.stopped = True
    return None if error is None else getattr(error, "path", "")
