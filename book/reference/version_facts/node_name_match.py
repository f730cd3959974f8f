"""`replace_pattern_with_filters` accepts `node_name_match`.

Before {since}, it does not. On those versions, look the nodes up in the match: `match.nodes_map`.

Explains:
    got an unexpected keyword argument 'node_name_match'
"""

import inspect

from torch.fx import subgraph_rewriter

print(
    "yes" if "node_name_match" in inspect.signature(subgraph_rewriter.replace_pattern_with_filters).parameters else "no"
)
