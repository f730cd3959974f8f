"""Answers to 19-add-a-pass: the passes in a place, and one more."""

from torch._inductor.custom_graph_pass import CustomGraphPass, get_custom_graph_passes

from fxbook.tasks.answering import breaks, right, wrong


@right
def uses_the_function_of_inductor(setting, new):
    passes = get_custom_graph_passes(setting)
    return [*passes, *(() if new in passes else (new,))]


@right
def recognises_a_pass_by_its_class(setting, new):
    passes = [setting] if isinstance(setting, CustomGraphPass) else [*(setting or ())]
    if not any(each is new for each in passes):
        passes.append(new)
    return passes


@right
def matches_the_kinds(setting, new):
    match setting:
        case None:
            return [new]
        case [*passes]:
            return [*passes, *[new] * (new not in passes)]
    return [setting] if setting is new else [setting, new]


@right
def filters(setting, new):
    passes = list(setting) if type(setting) in (list, tuple) else [setting]
    return [each for each in [*passes, *(() if new in passes else (new,))] if each is not None]


@breaks("`None`, a pass, or a list or tuple of passes.", case="a list")
@wrong("has_all_in_order", says="the list should be")
def overlooks_lists(setting, new):
    passes = [] if setting is None else [setting]
    return passes if new in passes else [*passes, new]


@breaks("followed by `new`.", case="one pass")
@wrong("has_all_in_order", says="the list should be")
def puts_it_first(setting, new):
    return [new, *(each for each in get_custom_graph_passes(setting) if each is not new)]


@breaks("If `new` is already in `setting`, do not add it.", case="a list with the new pass")
@wrong("has_all_in_order", says="the list should be")
def adds_it_twice(setting, new):
    return [*get_custom_graph_passes(setting), new]


@breaks("Leave `setting` as it is.", case="a list")
@wrong("setting_is_kept", says="return a new list")
def appends_in_place(setting, new):
    passes = setting if isinstance(setting, list) else list(get_custom_graph_passes(setting))
    if new not in passes:
        passes.append(new)
    return passes


@breaks("Return a list of the passes in `setting`,", case="a place that holds nothing")
@wrong("returns_a_list", says="The answer is an object of class tuple")
def returns_a_tuple(setting, new):
    return tuple(dict.fromkeys([*get_custom_graph_passes(setting), new]))


@breaks("in the same order", case="a list")
@wrong("has_all_in_order", says="the list should be")
def reverses_the_order(setting, new):
    passes = list(get_custom_graph_passes(setting))[::-1]
    return passes if new in passes else [*passes, new]
