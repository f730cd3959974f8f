"""Answers to 19-where-a-kernel-is-from: a lookup through two dicts."""

import itertools

from fxbook.tasks.answering import breaks, right, wrong


def nodes_of(provenance, kernel):
    calls = provenance["cppCodeToPost"].items()
    return [node for call, nodes in calls if call.split(":")[0] == kernel for node in nodes]


def origins(provenance, nodes):
    return sorted({name for node in nodes for name in provenance["postToPre"].get(node, [])})


@right
def chains_the_lists(provenance, kernel):
    lists = [provenance["postToPre"].get(node, ()) for node in nodes_of(provenance, kernel)]
    return sorted(set(itertools.chain.from_iterable(lists)))


@right
def filters_the_second_dict(provenance, kernel):
    nodes = set(nodes_of(provenance, kernel))
    return sorted({name for node, names in provenance["postToPre"].items() if node in nodes for name in names})


@right
def looks_for_the_colon(provenance, kernel):
    names = []
    for call in provenance["cppCodeToPost"]:
        if call.startswith(kernel + ":"):
            for node in provenance["cppCodeToPost"][call]:
                if node in provenance["postToPre"]:
                    names += provenance["postToPre"][node]
    return sorted({*names})


@right
class SortsAtTheEnd:
    def __call__(self, provenance, kernel):
        names = []
        for node in nodes_of(provenance, kernel):
            names.extend(name for name in provenance["postToPre"].get(node, []) if name not in names)
        names.sort()
        return names


@breaks("in Dynamo's graph", case="one call")
@wrong("names_the_origins", says="is a node of Inductor's graph, not of Dynamo's")
def stops_half_way(provenance, kernel):
    return sorted(set(nodes_of(provenance, kernel)))


@wrong("names_the_origins", says="does not come from `silu_")
def compares_only_the_beginning(provenance, kernel):
    calls = provenance["cppCodeToPost"].items()
    return origins(provenance, [node for call, each in calls if call.startswith(kernel) for node in each])


@wrong("names_the_origins", says="does not come from `gated_")
def compares_only_the_end(provenance, kernel):
    calls = provenance["cppCodeToPost"].items()
    return origins(provenance, [node for call, each in calls if call.split(":")[0].endswith(kernel) for node in each])


@breaks("any call to `kernel`", case="a kernel that is called twice")
@wrong("names_the_origins", says="which is missing from the answer")
def stops_at_the_first_call(provenance, kernel):
    calls = provenance["cppCodeToPost"].items()
    return origins(provenance, next(each for call, each in calls if call.split(":")[0] == kernel))


@breaks("each once.", case="several nodes from one node")
@wrong("names_the_origins", says="is in the list 2 times")
def repeats_names(provenance, kernel):
    names = [provenance["postToPre"].get(node, []) for node in nodes_of(provenance, kernel)]
    return sorted(itertools.chain(*names))


@breaks("Return a sorted list", case="one call")
@wrong("names_the_origins", says="the list is not sorted")
def reverses_the_names(provenance, kernel):
    return origins(provenance, nodes_of(provenance, kernel))[::-1]


@breaks("of the names of the nodes", case="one call")
@wrong("names_the_origins", says="The answer is not a list of names")
def returns_the_count(provenance, kernel):
    return len(nodes_of(provenance, kernel))


@wrong("ends well", says="KeyError: 'full_default'")
def expects_every_node(provenance, kernel):
    return sorted({name for node in nodes_of(provenance, kernel) for name in provenance["postToPre"][node]})
