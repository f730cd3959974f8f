"""Grade on the workers of a Dask cluster that no stranger can enter."""
