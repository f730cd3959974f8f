"""Answers to 07-inputs-by-name: an interpreter that takes inputs by name and reports all faults."""

import inspect

import torch
from torch import fx

from fxbook.tasks.answering import breaks, right, wrong

BY_NAME = "07_placeholder#in-one-page"
VALUES = "when_it_breaks/07_placeholder#silent-a-value-of-the-wrong-dtype-or-shape-is-accepted"
ENVIRONMENT = "07_placeholder#begin-with-an-environment"


class CheckedInputs(fx.Interpreter):
    def __init__(self, traced, examples):
        super().__init__(traced)
        self.examples = examples
        self.inputs = {node.target: node for node in traced.graph.find_nodes(op="placeholder")}

    def run_by_name(self, **values):
        faults = self.faults(values)
        if faults:
            raise ValueError("\n".join(faults))
        return self.start(values)

    def faults(self, values):
        unknown = [f"{name} is unknown" for name in values if name not in self.inputs]
        missing = [f"{name} is missing" for name in self.inputs if name not in values and self.required(name)]
        return [*unknown, *missing, *self.wrong_values(values)]

    def required(self, name):
        return not self.inputs[name].args

    def wrong_values(self, values):
        said = ((name, self.compare(values[name], self.examples.get(name))) for name in values if name in self.inputs)
        return [f"{name}: {fault}" for name, fault in said if fault]

    def compare(self, value, example):
        if not torch.is_tensor(example):
            return None
        if not torch.is_tensor(value):
            return f"a tensor was expected, not {type(value).__name__}"
        faults = []
        if value.shape != example.shape:
            faults.append(f"shape {tuple(value.shape)}, expected {tuple(example.shape)}")
        if value.dtype != example.dtype:
            faults.append(f"{value.dtype}, expected {example.dtype}")
        return ", ".join(faults)

    def start(self, values):
        return self.run(initial_env={self.inputs[name]: value for name, value in values.items()})


@right
class FeedsByPosition(CheckedInputs):
    def start(self, values):
        return self.run(*[values[name] if name in values else node.args[0] for name, node in self.inputs.items()])


class InputError(ValueError):
    def __init__(self, faults):
        super().__init__("; ".join(f"{name}: {fault}" for name, fault in faults.items()))


@right
class RaisesAnErrorOfItsOwn(fx.Interpreter):
    def __init__(self, traced, examples):
        super().__init__(traced)
        self.tensors = {name: one for name, one in examples.items() if isinstance(one, torch.Tensor)}

    def run_by_name(self, **values):
        inputs = {node.target: node for node in self.graph.nodes if node.op == "placeholder"}
        faults = dict.fromkeys(values.keys() - inputs.keys(), "unknown")
        for name in inputs.keys() - values.keys():
            if not inputs[name].args:
                faults[name] = "missing"
        for name in self.tensors.keys() & values.keys():
            found, wanted = map(self.describe, (values[name], self.tensors[name]))
            if found != wanted:
                faults[name] = f"{found} is not {wanted}"
        if faults:
            raise InputError(faults)
        return self.run(initial_env={inputs[name]: value for name, value in values.items()})

    def describe(self, value):
        return (value.shape, value.dtype) if isinstance(value, torch.Tensor) else type(value)


@right
class ReadsTheSignature(CheckedInputs):
    """Finds names and defaults in the signature, and passes all values in a list."""

    def __init__(self, traced, examples):
        super().__init__(traced, examples)
        self.inputs = inspect.signature(traced.forward).parameters

    def required(self, name):
        return self.inputs[name].default is inspect.Parameter.empty

    def start(self, values):
        return self.boxed_run([values.get(name, parameter.default) for name, parameter in self.inputs.items()])


@right
class StepsOverTheInputs(fx.Interpreter):
    def __init__(self, traced, examples):
        super().__init__(traced)
        self.examples = examples

    def run_by_name(self, **values):
        env, lines = {}, []
        for node in self.graph.find_nodes(op="placeholder"):
            name = node.target
            try:
                env[node] = values.pop(name)
            except KeyError:
                if node.args:
                    env[node] = node.args[0]
                else:
                    lines.append(f"missing: {name}")
                continue
            match self.examples.get(name), env[node]:
                case torch.Tensor() as wanted, torch.Tensor() as found:
                    texts = [f"{tensor.dtype}{list(tensor.shape)}" for tensor in (found, wanted)]
                    lines += [f"{name}: {texts[0]}, not {texts[1]}"] if texts[0] != texts[1] else []
                case torch.Tensor(), other:
                    lines.append(f"{name}: {type(other).__name__}")
        lines += [f"unknown: {name}" for name in values]
        if lines:
            raise ValueError("\n".join(lines))
        return self.run(initial_env=env)


@breaks(
    "a required input that is not passed:", "the word `missing`;", case="examples only for the inputs with defaults"
)
@wrong("reports_each_fault", says="with no `weight`, which has no example: RuntimeError is raised", read=BY_NAME)
class TreatsInputsWithoutAnExampleAsOptional(CheckedInputs):
    def required(self, name):
        return name in self.examples and super().required(name)


@breaks(
    "returns the result of the model.",
    "and then it gets its default, whatever its example is.",
    case="examples only for the inputs with defaults",
)
@wrong("reports_each_fault", says="with `scale` and `shift` left out, which have defaults and", read=ENVIRONMENT)
class FillsInExamples(CheckedInputs):
    def start(self, values):
        return super().start(self.examples | values)


@breaks("or if the example is not a tensor.", case="examples only for the inputs with defaults")
@wrong("reports_each_fault", says="with a number for `scale` that is not its example: nothing is wrong", read=VALUES)
class ComparesNumbers(CheckedInputs):
    def compare(self, value, example):
        if example is None or torch.is_tensor(example):
            return super().compare(value, example)
        return None if value == example else f"{value}, expected {example}"


@breaks(
    "One input may have two faults.",
    "For each fault, the message must contain what follows the colon:",
    case="the model of the chapter",
)
@wrong("reports_each_fault", says="a `mask` of another shape and dtype: the message does not contain", read=VALUES)
class ReportsTheFirstFaultOfAnInput(CheckedInputs):
    def compare(self, value, example):
        faults = super().compare(value, example)
        return faults and (faults if faults.startswith("a ") else faults.split(", torch")[0])


@breaks("Its message lists *all* faults", case="the model of the chapter")
@wrong("reports_each_fault", says="With `rows` and `mask` both wrong: the message does not name `mask`", read=VALUES)
class RaisesTheFirstFault(CheckedInputs):
    def faults(self, values):
        return super().faults(values)[:1]


@breaks(
    "If anything is wrong", "a tensor whose shape or dtype differs from the example's:", case="the model of the chapter"
)
@wrong("reports_each_fault", says="With a `mask` of booleans: no error is raised: it should raise", read=VALUES)
class ComparesShapesOnly(CheckedInputs):
    def compare(self, value, example):
        return None if example is None or value.shape == example.shape else f"{value.shape}, not {example.shape}"


@breaks("the passed and the expected shape or dtype", case="the model of the chapter")
@wrong("reports_each_fault", says="shape (5,): the message does not contain `(5, 1)` for `mask`", read=VALUES)
class LeavesOutWhatWasExpected(CheckedInputs):
    def compare(self, value, example):
        fault = super().compare(value, example)
        return fault and fault.split(", expected")[0]


@breaks("a value for an input that does not exist:", "the word `unknown`;", case="the model of the chapter")
@wrong("reports_each_fault", says="With `msak` in place of `mask`: the message does not name `msak`", read=BY_NAME)
class NeverLooksForUnknownNames(CheckedInputs):
    def faults(self, values):
        return [said for said in super().faults(values) if "unknown" not in said]


@breaks("takes the inputs by name", case="parameters named like builtins, one without users")
@wrong("reports_each_fault", says="with parameters called `input` and `len`: nothing is wrong, but", read=BY_NAME)
class GoesByNodeNames(CheckedInputs):
    def __init__(self, traced, examples):
        super().__init__(traced, examples)
        self.inputs = {node.name: node for node in self.inputs.values()}


@breaks("A message about shapes and dtypes names only the inputs that are at fault.", case="the model of the chapter")
@wrong("reports_each_fault", says="shape (5,): the message names `rows`, which is not at fault", read=VALUES)
class DescribesEveryInput(CheckedInputs):
    def wrong_values(self, values):
        faults = super().wrong_values(values)
        return faults and [f"got {dict.fromkeys(values)}", *faults]


@breaks("before anything runs.", case="the model of the chapter")
@wrong("reports_each_fault", says="shape (5,): layers ran before the error was raised", read=VALUES)
class RunsFirst(CheckedInputs):
    def run_by_name(self, **values):
        try:
            result = self.start(values)
        except Exception as error:
            raise ValueError("; ".join(self.faults(values))) from error
        if faults := self.faults(values):
            raise ValueError("; ".join(faults))
        return result


@breaks(
    "a value that is not a tensor, if the example is a tensor:",
    "the type of the value, as in `str`.",
    case="the model of the chapter",
)
@wrong("reports_each_fault", says="With a str for `mask`: the message does not contain `str` for `mask`", read=VALUES)
class LeavesOutTheType(CheckedInputs):
    def compare(self, value, example):
        if torch.is_tensor(example) and not torch.is_tensor(value):
            return "is not a tensor"
        return super().compare(value, example)


@breaks("After an error, the next call still works.", case="the model of the chapter")
@wrong("reports_each_fault", says="which is not at fault", read=VALUES)
class KeepsItsFaults(CheckedInputs):
    def __init__(self, traced, examples):
        super().__init__(traced, examples)
        self.kept = []

    def faults(self, values):
        self.kept += super().faults(values)
        return self.kept


@wrong("usable", says="has no method `run_by_name`")
class ReplacesRun(fx.Interpreter):
    def run(self, **values):
        return super().run(*values.values())
