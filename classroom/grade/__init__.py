"""Grade submissions: make jobs for workers, judge the answers, and keep a gradebook."""
