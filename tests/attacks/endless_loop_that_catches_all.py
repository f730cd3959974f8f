"""Never end, and catch whatever is raised to end it.

Ends: time
"""


def paired(*given):
    while True:
        try:
            while True:
                pass
        except BaseException:
            continue
