"""`replace_pattern_with_filters` takes `node_name_match`.

Before {since} it does not. Read names from the match there: `match.nodes_map`.

Explains:
    got an unexpected keyword argument 'node_name_match'
"""

import inspect

from torch.fx import subgraph_rewriter

print(
    "yes" if "node_name_match" in inspect.signature(subgraph_rewriter.replace_pattern_with_filters).parameters else "no"
)
