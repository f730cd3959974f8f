"""What authors write, read and checked: notebooks, exercises, claims."""
