"""The learner's side: the exercises and their hints, the sheet with the answers, and the loop that checks it."""
