"""Tools from chapters 03, 05 and 12 to 15 for editing graphs and checking the edits."""
