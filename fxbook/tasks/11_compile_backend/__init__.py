"""Exercises of chapter 11: passes for graphs from `torch.compile` and `torch.export`."""

ORDER = ("name_the_inputs", "what_is_saved", "train_through_it", "scale_the_results")
