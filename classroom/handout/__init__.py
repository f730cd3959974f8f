"""Build the students' zip of exercises and handout, and check that it leaks nothing."""
