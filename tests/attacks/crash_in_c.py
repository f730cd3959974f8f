"""Write where nothing is.

Ends: crash
"""

import ctypes

ctypes.memset(0, 1, 1)
