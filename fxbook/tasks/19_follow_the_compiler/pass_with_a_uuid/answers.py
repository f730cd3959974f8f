"""Answers to 19-pass-with-a-uuid: a pass that swaps operators, and the text by which a cache recognizes it."""

import hashlib
import uuid

from torch._inductor.custom_graph_pass import CustomGraphPass

from fxbook.tasks.answering import breaks, right, wrong


class Swapping(CustomGraphPass):
    def __init__(self, old, new):
        self.old, self.new = old, new

    def __call__(self, graph):
        for node in graph.find_nodes(op="call_function", target=self.old):
            node.target = self.new

    def uuid(self):
        return f"{self.old} to {self.new}"


RECOMPILE = "when_it_breaks/19_follow_the_compiler#attributeerror-graph-object-has-no-attribute-recompile"


@right
class ReplacesNodes(Swapping):
    def __call__(self, graph):
        for node in list(graph.nodes):
            if node.target == self.old:
                node.target = self.new
        graph.lint()


@right
class HashesTheNames(Swapping):
    def uuid(self):
        return hashlib.sha256(f"{self.old}|{self.new}".encode()).hexdigest()


@right
class MakesTheTextOnce(Swapping):
    def __init__(self, old, new):
        super().__init__(old, new)
        self.text = repr(("swap", str(old), str(new)))

    def uuid(self):
        return self.text


@right
class DescribesItself(Swapping):
    def __call__(self, graph):
        found = filter(lambda node: node.target is self.old, graph.nodes)
        for node in [*found]:
            node.target = self.new

    def uuid(self):
        return f"{type(self).__qualname__}({self.old.name()!r}, {self.new.name()!r})"


@breaks("and different for any other two.", case="a chain of operators")
@wrong("differs_for_others", says="These passes have the same text")
class HasTheSameTextForAll(Swapping):
    def uuid(self):
        return "swap"


@wrong("differs_for_others", says="These passes have the same text")
class LeavesOutTheNewOperator(Swapping):
    def uuid(self):
        return str(self.old)


@wrong("differs_for_others", says="These passes have the same text")
class SortsTheNames(Swapping):
    def uuid(self):
        return " ".join(sorted([str(self.old), str(self.new)]))


@wrong("differs_for_others", says="These passes have the same text")
class LeavesOutTheOverload(Swapping):
    def uuid(self):
        return f"{self.old.overloadpacket} to {self.new.overloadpacket}"


@breaks("The text is the same for two passes with the same operators,", case="a chain of operators")
@wrong("same_for_the_same", says="Two passes with the same operators have different texts")
class ReturnsARandomText(Swapping):
    def uuid(self):
        return str(uuid.uuid4())


@breaks("even in another process,", case="a chain of operators")
@wrong("same_in_another_process", says="The text contains an address, a hash or a process id")
class ReturnsHashes(Swapping):
    def uuid(self):
        return f"{hash(str(self.old))} {hash(str(self.new))}"


@breaks("Its `uuid()` returns a `str`.", case="a chain of operators")
@wrong("is_text", says="`uuid()` returns an object of class tuple")
class ReturnsATuple(Swapping):
    def uuid(self):
        return str(self.old), str(self.new)


@wrong("is_a_pass", says="which is not a `CustomGraphPass`")
class IsAPlainClass:
    __init__, __call__, uuid = Swapping.__init__, Swapping.__call__, Swapping.uuid


@breaks("replaces each call to the operator `old` with a call to `new`,", case="a chain of operators")
@wrong("swaps", says="still calls `aten.sin.default` after the pass")
class SwapsOnlyTheFirst(Swapping):
    def __call__(self, graph):
        for node in graph.find_nodes(op="call_function", target=self.old)[:1]:
            node.target = self.new


@breaks("with the same arguments.", case="two overloads")
@wrong("swaps", says="has different arguments after the pass")
class DropsKeywords(Swapping):
    def __call__(self, graph):
        super().__call__(graph)
        for node in graph.nodes:
            node.kwargs = {}


@breaks("`Swap(old, new)` is a pass that gets a `Graph`", case="a chain of operators")
@wrong("ends well", says="recompile", read=RECOMPILE)
class ExpectsAModule(Swapping):
    def __call__(self, module):
        super().__call__(module)
        module.recompile()


@wrong("same_for_the_same", says="A pass changes when another `Swap` is made")
class KeepsTheOperatorsInTheClass(Swapping):
    def __init__(self, old, new):
        type(self).old, type(self).new = old, new
