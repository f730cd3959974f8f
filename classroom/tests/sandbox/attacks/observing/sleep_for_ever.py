"""Never end, without using the processor.

Harm: it runs on, and the next one waits.
"""

import time

while True:
    time.sleep(1000)
