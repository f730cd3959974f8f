"""Show an error that a cell is about: print its real message, and fail if none is raised."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator


@contextlib.contextmanager
def expect_error(
    kind: type[BaseException] | tuple[type[BaseException], ...], part: str, lines: int = 6
) -> Iterator[None]:
    """Assert that the body raises ``kind`` with ``part`` in the message, and print the message as Python would.

    Args:
        kind: the exact class of the error, or several if it depends on the version of torch. A subclass or a different
            error is a failure.
        part: text that the message must contain.
        lines: how many lines of the message to print; an ellipsis replaces the rest. 0 prints only ``part``, for a
            message that differs between versions of torch.

    Raises:
        AssertionError: no error was raised, it is not of ``kind``, or its message does not contain ``part``.

    Example:
        >>> from fxbook import expect_error
        >>> with expect_error(ZeroDivisionError, "division"):
        ...     1 / 0
        ZeroDivisionError: division by zero
    """
    # torch prints the failing line of generated code to stderr; it belongs to the message.
    printed = io.StringIO()
    kinds = kind if isinstance(kind, tuple) else (kind,)
    wanted = " or ".join(one.__name__ for one in kinds)
    try:
        with contextlib.redirect_stderr(printed):
            yield
    except BaseException as error:
        message = f"{type(error).__name__}: {error}"
        if type(error) not in kinds or part not in str(error):
            raise AssertionError(f"expected {wanted} with {part!r} in its message, got {message}") from error
        if lines == 0:
            print(f"{wanted}: … {part} …")
            return
        shown = message.strip().splitlines()
        print("\n".join([*shown[:lines], *(["…"] if len(shown) > lines else [])]))
        return
    raise AssertionError(f"expected {wanted} with {part!r} in its message, but nothing was raised")
