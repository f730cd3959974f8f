"""The index of torch.fx: names, signatures, and the cells in the chapters that use them."""
