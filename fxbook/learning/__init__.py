"""What a learner has in hand: the exercises and their hints, the sheet they are done in, the loop that checks it."""
