"""The browser fixture from the other tests, also for these."""

from tests.conftest import browser as browser
