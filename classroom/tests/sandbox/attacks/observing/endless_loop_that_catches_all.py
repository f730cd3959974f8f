"""Never end, and catch whatever is raised to end it.

Harm: it runs on, and the next one waits.
"""


def paired(*given):
    while True:
        try:
            while True:
                pass
        except BaseException:
            continue
