"""Export assignments and marks to nbgrader, Moodle and Canvas."""


class ExportError(Exception):
    """An export that is not possible; the message says what to do."""
