"""A run of a graph whose nodes note which values are alive, and what is asked of such a run."""
