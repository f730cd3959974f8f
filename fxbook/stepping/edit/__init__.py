"""Step through an edit: what each step of a pass changed."""
