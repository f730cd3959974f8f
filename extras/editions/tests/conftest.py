"""Share the browser fixture from the other tests."""

from tests.conftest import browser as browser
