"""The chapters' finished passes, and torch's passes, with their invariants on random graphs."""
