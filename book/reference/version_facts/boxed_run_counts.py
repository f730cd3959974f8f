r"""`Interpreter.boxed_run` checks the number of its inputs.

Before {since}, too few inputs raised a `StopIteration` without a message, and inputs beyond the last placeholder were
silently ignored. On those versions, compare the length of the list with the number of placeholders yourself.

Explains:
    08_boxed_run.* => StopIteration:
    Interpreter\.boxed_run expected \d+ arguments
    08-free-early .*: not yet
"""

from torch import fx

adds = fx.symbolic_trace(lambda x, y: x + y)
told = []
for box in ([1], [1, 2, 3]):
    try:
        told.append(str(fx.Interpreter(adds).boxed_run(box)))
    except Exception as error:
        told.append(type(error).__name__)
print(*told)
