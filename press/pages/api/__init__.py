"""The index of torch.fx: names, signatures, and the cells of the chapters that use them."""
