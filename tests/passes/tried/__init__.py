"""Try the finished passes of the chapters, and passes of torch, on random graphs."""
