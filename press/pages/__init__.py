"""The generated pages: symptoms, fact check, status, the index of the API."""
