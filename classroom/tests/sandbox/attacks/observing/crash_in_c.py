"""Write where nothing is.

Harm: the process that imports torch for all ends with it.
"""

import ctypes

ctypes.memset(0, 1, 1)
