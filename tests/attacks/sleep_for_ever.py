"""Never end, without using the processor.

Ends: time
"""

import time

while True:
    time.sleep(1000)
