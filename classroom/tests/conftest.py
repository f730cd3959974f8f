"""What the tests of the grader share with those of the book: a browser, and the state in which each test begins."""

from tests.conftest import browser, gradients_stay_on, pytest_collection

__all__ = ["browser", "gradients_stay_on", "pytest_collection"]
