"""Answers to 19-find-the-operator: the calls to an operator, in graphs from Dynamo and from AOTAutograd."""

import torch

from fxbook.tasks.answering import breaks, right, wrong

THROUGH = torch.ops.higher_order.auto_functionalized_v2


@right
def joins_two_lists(graph, operator):
    direct = list(graph.find_nodes(op="call_function", target=operator))
    through = [node for node in graph.find_nodes(op="call_function", target=THROUGH) if node.args[0] == operator]
    return [node.name for node in direct + through]


@right
def finds_what_each_node_really_calls(graph, operator):
    def called(node):
        return node.args[0] if node.target is THROUGH else node.target

    return [node.name for node in graph.nodes if node.op == "call_function" and called(node) is operator]


@right
def compares_whole_names(graph, operator):
    def name(node):
        called = node.args[0] if node.target is THROUGH else node.target
        return called.name() if isinstance(called, torch._ops.OpOverload) else ""

    return [node.name for node in graph.nodes if name(node) == operator.name()]


@right
class FindsBothTargetsThenFilters:
    def __call__(self, graph, operator):
        candidates = [node for node in graph.nodes if node.op == "call_function" and node.target in (operator, THROUGH)]
        return {node.name for node in candidates if operator in {node.target, node.args[0]}}


@breaks("that call this operator", case="an operator that writes")
@wrong("names_the_calls", says="does not call `fxbook_tasks.double_.default`, but is in the answer")
def looks_at_the_first_argument_of_any_call(graph, operator):
    return [node.name for node in graph.nodes if operator in (node.target, *node.args[:1])]


@breaks("or through `auto_functionalized_v2`.", case="an operator that writes")
@wrong("names_the_calls", says="calls `fxbook_tasks.double_.default`, but is missing from the answer")
def looks_only_at_targets(graph, operator):
    return [node.name for node in graph.nodes if node.target is operator]


@breaks("that call this operator", case="an operator that writes")
@wrong("names_the_calls", says="does not call `fxbook_tasks.double_.default`, but is in the answer")
def includes_every_auto_functionalized_call(graph, operator):
    return [node.name for node in graph.nodes if node.target in (operator, THROUGH)]


@breaks("directly", case="Dynamo's graph")
@wrong("names_the_calls", says="but is missing from the answer")
def overlooks_direct_calls(graph, operator):
    return [node.name for node in graph.nodes if node.target is THROUGH and node.args[0] is operator]


@wrong("names_the_calls", says="does not call")
def ignores_the_overload(graph, operator):
    def packet(value):
        return getattr(value, "overloadpacket", value)

    return [
        node.name
        for node in graph.nodes
        if packet(operator) in (packet(node.target), packet(node.args[0] if node.args else None))
    ]


@breaks("Return a list of the names of the nodes", case="Dynamo's graph")
@wrong("names_the_calls", says="The answer is not a list of names")
def returns_the_count(graph, operator):
    return len([node for node in graph.nodes if operator in (node.target, *node.args[:1])])


@breaks("that call this operator", case="Dynamo's graph")
@wrong("names_the_calls", says="does not call `fxbook_tasks.double_.default`, but is in the answer")
def includes_the_operator_that_does_not_write(graph, operator):
    def called(node):
        return str(node.args[0] if node.target is THROUGH else node.target)

    return [node.name for node in graph.nodes if called(node).replace("_.", ".") == str(operator).replace("_.", ".")]


@breaks("that call this operator", case="Dynamo's graph")
@wrong("names_the_calls", says="does not call `fxbook_tasks.double_.default`, but is in the answer")
def looks_for_a_part_of_the_name(graph, operator):
    return [
        node.name for node in graph.nodes if any(str(operator) in str(each) for each in (node.target, *node.args[:1]))
    ]


@wrong("names_the_calls", says="is in the answer more than once")
def lists_a_call_once_for_each_tensor(graph, operator):
    calls = finds_what_each_node_really_calls(graph, operator)
    return [user.name for node in graph.nodes for user in node.users if user.name in calls]


@breaks("or through `auto_functionalized_v2`.", case="an operator that writes")
@wrong("names_the_calls", says="does not call `fxbook_tasks.double_.default`, but is in the answer")
def ignores_the_overload_of_a_wrapped_operator(graph, operator):
    through = graph.find_nodes(op="call_function", target=THROUGH)
    wrapped = [node for node in through if node.args[0].overloadpacket is operator.overloadpacket]
    return [node.name for node in [*graph.find_nodes(op="call_function", target=operator), *wrapped]]


@wrong("nothing_left", says="a graph that your code was given has been edited, at node `print_1`")
def cleans_the_graph_first(graph, operator):
    graph.eliminate_dead_code()
    return finds_what_each_node_really_calls(graph, operator)
