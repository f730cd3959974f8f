"""Collect submissions: find each file's student, sheet, version and lateness. Files are read in the sandbox."""
