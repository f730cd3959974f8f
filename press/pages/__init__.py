"""The generated pages: symptoms, fact check, status, and the API index."""
