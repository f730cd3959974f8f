"""The finished passes of the chapters on random graphs, with all that they must keep; passes of torch likewise."""
