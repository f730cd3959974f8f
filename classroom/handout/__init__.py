"""What students get: a zip with the exercises of an assignment and the page that goes with it, without a leak."""
