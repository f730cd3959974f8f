"""Answers to 04-name-the-failing-node."""

import ast
import contextlib
import io
import re
import sys
import traceback

from torch import fx

from fxbook.tasks.answering import right, wrong

LINE = "04_recompile#find-the-line-that-failed"


def name_in(line):
    """The node that a line of generated code makes."""
    return re.search(r"(?:^|;  )(\w+)(?: : [^=]+)? = ", line.strip())[1]


def line_of(traced, error):
    own = traced.forward.__code__.co_filename
    return next(frame.line for frame in traceback.extract_tb(error.__traceback__) if frame.filename == own)


# ---- right -----------------------------------------------------------------------------------------------------------


@right
def walks_the_traceback(traced, *inputs):
    """Frame by frame, and the line from the text of the module."""
    try:
        traced.forward(*inputs)
    except Exception as error:
        tb = error.__traceback__
        while tb.tb_frame.f_code is not traced.forward.__code__:
            tb = tb.tb_next
        return name_in(traced.code.splitlines()[tb.tb_lineno - 1])


@right
def parses_the_line(traced, *inputs):
    try:
        traced.forward(*inputs)
    except Exception as error:
        names = []
        for statement in ast.parse(line_of(traced, error)).body:
            if isinstance(statement, ast.AnnAssign):
                names.append(statement.target.id)
            elif isinstance(statement, ast.Assign) and ast.unparse(statement.value) != "None":
                names.append(statement.targets[0].id)
        return names[-1]
    return None


@right
def watches_the_lines_that_run(traced, *inputs):
    """Python says before each line which it is."""
    own, last = traced.forward.__code__, None

    def watch(frame, event, _):
        nonlocal last
        if frame.f_code is not own:
            return None
        if event == "line":
            last = frame.f_lineno
        return watch

    before = sys.gettrace()
    sys.settrace(watch)
    try:
        traced.forward(*inputs)
    except Exception:
        return name_in(traced.code.splitlines()[last - 1])
    finally:
        sys.settrace(before)


@right
def formats_the_traceback(traced, *inputs):
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            traced.forward(*inputs)
    except Exception as error:
        told = traceback.TracebackException.from_exception(error)
        own = traced.forward.__code__.co_filename
        return name_in([frame for frame in told.stack if frame.filename == own][-1].line)
    return None


# ---- wrong -----------------------------------------------------------------------------------------------------------


@wrong("names_the_node", says="returns None, and calling the module raises", read=LINE)
def swallows_the_error(traced, *inputs):
    with contextlib.suppress(Exception):
        traced(*inputs)


class Remembers(fx.Interpreter):
    def run_node(self, n):
        self.node = n
        return super().run_node(n)


@wrong("names_the_node", says="(an edit that was not compiled): it names a node, and calling the module raises nothing")
def runs_the_graph_in_place_of_the_code(traced, *inputs):
    interpreter = Remembers(traced)
    try:
        interpreter.run(*inputs)
    except Exception:
        return interpreter.node.name
    return None


@wrong("names_the_node", says="(an edit that was not compiled): it names a node, and calling the module raises nothing")
def reads_the_message_of_the_interpreter(traced, *inputs):
    try:
        fx.Interpreter(traced).run(*inputs)
    except Exception as error:
        return re.search(r"While executing %(\w+)", str(error))[1]
    return None


@wrong("names_the_node", says="It returns a node: its name was asked.")
def returns_the_node(traced, *inputs):
    try:
        traced.forward(*inputs)
    except Exception as error:
        name = name_in(line_of(traced, error))
        return next(node for node in traced.graph.nodes if node.name == name)
    return None


@wrong("names_the_node", says="It returns a node: its name was asked.")
def returns_the_node_of_an_interpreter(traced, *inputs):
    interpreter = Remembers(traced)
    try:
        interpreter.run(*inputs)
    except Exception:
        return interpreter.node


@wrong("names_the_node", says="(a line that calls a traced module): it returns 'up'", read=LINE)
def takes_the_last_generated_line(traced, *inputs):
    """Of another module, where one stands below."""
    try:
        traced.forward(*inputs)
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        return name_in([frame.line for frame in frames if "eval_with_key" in frame.filename][-1])
    return None


@wrong("ends well", says="Your code raises")
def takes_the_end_of_the_traceback(traced, *inputs):
    try:
        traced.forward(*inputs)
    except Exception as error:
        return name_in(traceback.extract_tb(error.__traceback__)[-1].line)
    return None


@wrong("ends well", says="Your code raises")
def calls_the_module_and_looks_for_its_line(traced, *inputs):
    """The call has cut the traceback off."""
    try:
        traced(*inputs)
    except Exception as error:
        return name_in(line_of(traced, error))
    return None


@wrong("names_the_node", says="returns 'x += up;  add', which is the name of no node", read=LINE)
def cuts_at_the_first_equals_sign(traced, *inputs):
    try:
        traced.forward(*inputs)
    except Exception as error:
        return line_of(traced, error).split(" = ")[0]
    return None


@wrong("names_the_node", says="(an operation in place): it names `x`, which does not fail", read=LINE)
def takes_the_first_word(traced, *inputs):
    try:
        traced.forward(*inputs)
    except Exception as error:
        return line_of(traced, error).split()[0]
    return None


@wrong("names_the_node", says="(a node with a type): it returns 'relu : torch.Tensor'", read=LINE)
def forgets_the_type(traced, *inputs):
    try:
        traced.forward(*inputs)
    except Exception as error:
        parts = [part for part in line_of(traced, error).split(";  ") if not part.endswith(" = None")]
        return parts[-1].split(" = ")[0]
    return None


@wrong("ends well", says="Your code raises")
def lets_the_error_through(traced, *inputs):
    traced(*inputs)


@wrong("names_the_node", says="It names `relu`, which does not fail.", read=LINE)
def knows_the_example(traced, *inputs):
    return "relu"
