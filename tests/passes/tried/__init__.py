"""The finished passes of the chapters, and passes of torch, with their invariants on random graphs."""
