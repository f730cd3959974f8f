"""Hand an assignment, or the marks of a class, to where a teacher already is: nbgrader, Moodle, Canvas."""


class ExportError(Exception):
    """What was asked for cannot be exported; the message says what to do."""
