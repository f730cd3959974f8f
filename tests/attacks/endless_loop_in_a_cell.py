"""Never end, before the answer is there.

Ends: time
"""

while True:
    pass
