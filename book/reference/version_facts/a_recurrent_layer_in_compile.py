"""`torch.compile` makes no graph of the code that follows an RNN, a GRU or an LSTM in the same function.

From {later} on, it leaves out only the call to the layer, so the code that follows gets a graph too. The layer itself
is not in a graph on any version, unless `torch._dynamo.config.allow_rnn` is set.
"""

import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.head = nn.LSTM(8, 8), nn.Linear(8, 2)

    def forward(self, x):
        return self.head(self.lstm(x)[0])


graphs = []


def keep(module, example_inputs):
    graphs.append(module)
    return module.forward


torch.compile(Tagger(), backend=keep)(torch.ones(3, 2, 8))
print("graphs:", len(graphs))
