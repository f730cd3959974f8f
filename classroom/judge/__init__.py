"""Judge answers from their observations, which are untrusted."""
