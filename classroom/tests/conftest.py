"""Share the browser fixture and the state before each test with the tests of the book."""

from tests.conftest import browser, gradients_stay_on, pytest_collection

__all__ = ["browser", "gradients_stay_on", "pytest_collection"]
