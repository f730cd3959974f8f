"""Name what the forward graph saves for the backward graph."""
