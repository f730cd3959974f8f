"""Answers to 10-plain-signature: a module with one input around a model."""

import copy

from torch import nn

from fxbook.tasks.answering import breaks, right, wrong


@right
class KeepsTheNames(nn.Module):
    def __init__(self, model, takes, returns):
        super().__init__()
        self.inner, self.takes, self.returns = model, takes, returns
        self.training = model.training

    def forward(self, value):
        return self.inner(**{self.takes: value})[self.returns]


@right
def makes_a_class_with_a_forward(model, takes, returns):
    def forward(self, x):
        return self.model(**{takes: x})[returns]

    module = type("Made", (nn.Module,), {"forward": forward})()
    module.model, module.training = model, model.training
    return module


@right
def picks_the_entry_in_a_second_module(model, takes, returns):
    class Entry(nn.Module):
        def forward(self, found):
            return found[returns]

    class Named(nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, x):
            return self.model(**{takes: x})

    module = nn.Sequential(Named(), Entry())
    for part in (module, *module):
        part.training = model.training
    return module


@right
def puts_the_model_into_a_list(model, takes, returns):
    class Listed(nn.Module):
        def __init__(self):
            super().__init__()
            self.parts = nn.ModuleList([model])
            self.training = self.parts.training = model.training

        def forward(self, x):
            [result] = [part(**{takes: x}) for part in self.parts]
            return result[returns]

    return Listed()


SCORES, TRAIN, PART = "a model that scores rows", "a model in train mode", "a model with modules in eval mode"


@breaks("The `forward` of `model` is decorated, and `symbolic_trace` rejects it.", case=SCORES)
@wrong("can_be_traced", says="co_varnames is too small")
def returns_the_model(model, takes, returns):
    return model


@breaks("Return a module that `symbolic_trace` accepts.", case=SCORES)
@wrong("can_be_traced", says="Proxy object cannot be iterated")
class TakesStarredInputs(KeepsTheNames):
    def forward(self, *inputs):
        return self.inner(**{self.takes: next(iter(inputs))})[self.returns]


@breaks("The module has one input.", case=SCORES)
@wrong("one_input", says="has 2 inputs")
class HasAnInputWithoutUsers(KeepsTheNames):
    def forward(self, x, offset=0.0):
        return super().forward(x)


@breaks("A module with a plain signature, around model.", case=SCORES)
@wrong("a_module_is_returned", says="returns an object of class function: it should return a module")
def returns_a_function(model, takes, returns):
    return lambda x: model(**{takes: x})[returns]


@breaks("returns the entry `returns` of the dict that the model returns.", case=SCORES)
@wrong("the_entry", says="The result is not the entry that `returns` names")
class ReturnsTheFirstEntry(KeepsTheNames):
    def forward(self, x):
        return next(iter(self.inner(**{self.takes: x}).values()))


@breaks("It passes this input to the model under the name `takes`", case=SCORES)
@wrong("can_be_traced", says="KeyError")
class CallsTheInputX(KeepsTheNames):
    def forward(self, x):
        return self.inner(x=x)[self.returns]


@breaks("The model is a submodule of the module, so that the module has the model's weights.", case=SCORES)
@wrong("weights_are_inside", says="does not have the weights of the model")
def wraps_a_copy(model, takes, returns):
    return KeepsTheNames(copy.deepcopy(model), takes, returns)


@breaks("or eval mode, like the model.", case=SCORES)
@wrong("mode_is_kept", says="The module is in train mode, but the model is in eval mode")
def leaves_the_wrapper_in_train_mode(model, takes, returns):
    module = KeepsTheNames(model, takes, returns)
    module.training = True
    return module


@breaks("Each module inside the model keeps its mode.", case=PART)
@wrong("mode_is_kept", says="mode of a module inside the model has changed")
def sets_the_mode_of_all_modules(model, takes, returns):
    return KeepsTheNames(model, takes, returns).train(model.training)


@breaks("The module is in train mode", case=TRAIN)
@wrong("mode_is_kept", says="The module is in eval mode, but the model is in train mode")
def calls_eval(model, takes, returns):
    return KeepsTheNames(model, takes, returns).eval()


@breaks("returns the entry `returns` of the dict", case=PART)
@wrong("the_entry", says=f"({PART}): the result is not the entry that `returns` names")
class CastsTheEntry(KeepsTheNames):
    def forward(self, x):
        return super().forward(x).float()


@breaks("It passes this input to the model", case=PART)
@wrong("the_entry", says=f"({PART}): the result is not the entry that `returns` names")
class SkipsTheDecorator(KeepsTheNames):
    def forward(self, x):
        return type(self.inner).forward.__wrapped__(self.inner, **{self.takes: x})[self.returns]
