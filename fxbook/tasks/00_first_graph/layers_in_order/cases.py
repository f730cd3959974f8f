"""Models that call their layers in another order than they hold them."""

from __future__ import annotations

from fxbook.asking import Case, Usage, eager

from ..cases import Attending, Classifier, Drawn, NamedAlike, Recurrent, rows, what_it_lists

USAGE = Usage(
    "compute",
    cases=(
        Case("the classifier of the chapter", Classifier, rows(4)),
        Case("a model that calls a layer twice", Recurrent, rows(5), unseen=True),
        Case("a model with a layer that holds another", Attending, rows(4), unseen=True),
        Case("a model with names that begin alike", NamedAlike, rows(4), unseen=True),
        Case("a model with layers of its own", Drawn, rows(4), unseen=True),
    ),
    given=eager,
    call=what_it_lists,
)
