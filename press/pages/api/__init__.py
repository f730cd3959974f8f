"""What torch.fx offers and where the chapters show it: names, signatures, and uses read from the notebooks' code."""
