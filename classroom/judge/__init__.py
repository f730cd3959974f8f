"""What an answer is worth: judge what came out of the sandbox, believing little of it."""
