"""The pages that are derived: symptoms, fact check, status, the index of the API."""
