"""Never end, before the answer is there.

Harm: it runs on, and the next one waits.
"""

while True:
    pass
