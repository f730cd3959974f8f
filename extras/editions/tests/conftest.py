"""The browser of the other tests, for these, too."""

from tests.conftest import browser as browser
