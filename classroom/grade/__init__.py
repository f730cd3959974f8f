"""From submissions to a gradebook: jobs for workers, and what becomes of each answer."""
