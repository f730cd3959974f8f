"""A backend that changes what a model computes, and is trained through."""
