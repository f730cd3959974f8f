"""Answers to 07-inject-constants: an interpreter in which constants replace inputs."""

import copy

from torch import fx

from fxbook.tasks.answering import breaks, right, wrong

REPLACE = "07_placeholder#replace-placeholder"


class WithConstants(fx.Interpreter):
    def __init__(self, traced, constants):
        super().__init__(traced)
        self.constants = constants


def inputs_by_target(interpreter):
    return {node.target: node for node in interpreter.graph.find_nodes(op="placeholder")}


@right
class SkipsTheirPlaceholders(WithConstants):
    def run_node(self, node):
        if node.op == "placeholder" and node.target in self.constants:
            return self.constants[node.target]
        return super().run_node(node)


@right
class RunsACopyOfTheGraph(fx.Interpreter):
    def __init__(self, traced, constants):
        graph = copy.deepcopy(traced.graph)
        for node in graph.find_nodes(op="placeholder"):
            if node.target in constants:
                for user in list(node.users):
                    user.args = fx.node.map_arg(
                        user.args, lambda read, node=node: constants[node.target] if read is node else read
                    )
                graph.erase_node(node)
        super().__init__(traced, graph=graph)


@right
class CallsTheModuleByName(WithConstants):
    def run(self, *values):
        names = [name for name in inputs_by_target(self) if name not in self.constants]
        return self.module(**self.constants, **dict(zip(names, values, strict=False)))


@right
class PutsTheConstantsInTheBox(WithConstants):
    def run(self, *values, initial_env=None):
        if initial_env is not None:
            return super().run(initial_env=initial_env)
        left = list(values)[::-1]
        box = [
            self.constants[name] if name in self.constants else left.pop() if left else node.args[0]
            for name, node in inputs_by_target(self).items()
        ]
        return self.boxed_run(box)


@breaks("Callers leave these inputs out:", case="a model that returns its inputs")
@wrong("constants_injected", says="The input `mask` gets the value for `sharpness`, not its own", read=REPLACE)
class TakesAValueForEachInput(WithConstants):
    def placeholder(self, target, args, kwargs):
        value = super().placeholder(target, args, kwargs)
        return self.constants.get(target, value)


@breaks("with constants.", case="the constant None")
@wrong("constants_injected", says="the input `sharpness` gets the value for `input`", read=REPLACE)
class TreatsNoneAsNoConstant(WithConstants):
    def placeholder(self, target, args, kwargs):
        if self.constants.get(target) is not None:
            return self.constants[target]
        return super().placeholder(target, args, kwargs)


@breaks("replaces some inputs with constants.", case="a layer with the name of an input")
@wrong("constants_injected", says="the result is not the expected one", read=REPLACE)
class MistakesALayerForAnInput(WithConstants):
    def run_node(self, node):
        return self.constants[node.target] if node.target in self.constants else super().run_node(node)


@breaks("and the same interpreter can run several times.", case="a model that returns its inputs")
@wrong("constants_injected", says="which got the values in reverse order, the input `rows` gets the", read=REPLACE)
class UsesEachConstantOnce(WithConstants):
    def placeholder(self, target, args, kwargs):
        if target in self.constants:
            return self.constants.pop(target)
        return super().placeholder(target, args, kwargs)


@breaks(
    "replaces some inputs with constants.",
    "in which constants, a dict keyed by parameter, replace inputs",
    case="two inputs of four",
)
@wrong("constants_injected", says="the input `input` gets another value, not the constant", read=REPLACE)
class LooksForNamesOfNodes(WithConstants):
    def run_node(self, node):
        if node.op == "placeholder" and node.name in self.constants:
            return self.constants[node.name]
        return super().run_node(node)


@breaks("mask}).run(rows)`.", case="the second of its inputs")
@wrong("constants_injected", says="The input `rows` gets the value for `mask`, not its own", read=REPLACE)
class PutsTheConstantsFirst(WithConstants):
    def run(self, *values):
        return super().run(*self.constants.values(), *values)


@breaks("The graph does not change", case="a model that returns its inputs")
@wrong("input_unchanged", says="The model that was given has been changed: its graph was edited, at node `rows`")
class WritesDefaultsIntoTheGraph(WithConstants):
    def __init__(self, traced, constants):
        for node in traced.graph.find_nodes(op="placeholder"):
            if node.target in constants:
                node.args = (constants[node.target],)
        super().__init__(traced, constants)

    def placeholder(self, target, args, kwargs):
        return args[0] if target in self.constants else super().placeholder(target, args, kwargs)


@breaks("The graph does not change", case="an input that is used twice")
@wrong("input_unchanged", says="its graph was edited, at node `names`", read=REPLACE)
class ErasesInputsThatNoNodeUses(WithConstants):
    def __init__(self, traced, constants):
        for node in traced.graph.find_nodes(op="placeholder"):
            if node.target in constants and not node.users:
                traced.graph.erase_node(node)
        super().__init__(traced, constants)

    def placeholder(self, target, args, kwargs):
        return self.constants[target] if target in self.constants else super().placeholder(target, args, kwargs)


@breaks("with constants.", case="a layer with the name of an input")
@wrong("constants_injected", says="the result is not the expected one: it has dtype float32", read=REPLACE)
class CastsTensors(WithConstants):
    def placeholder(self, target, args, kwargs):
        if target in self.constants:
            constant = self.constants[target]
            return constant.float() if hasattr(constant, "float") else constant
        return super().placeholder(target, args, kwargs)


@wrong(
    "ends well",
    says="Your code raises TypeError",
    read="07_placeholder#typeerror-interpreterrun-got-an-unexpected-keyword-argument-mask",
)
class PassesConstantsByName(WithConstants):
    def run(self, *values):
        return super().run(*values, **self.constants)


@breaks("Write an interpreter", case="a model that returns its inputs")
@wrong("usable", says="The class `NoInterpreter` is not an fx.Interpreter")
class NoInterpreter:
    def __init__(self, traced, constants):
        self.traced, self.constants = traced, constants
