"""The teacher's side of the book: hand exercises out, grade what comes back, learn what to teach again.

``assignment`` says what is asked, ``release`` makes the zip for students, ``submissions`` finds what they handed in,
``sandbox`` runs their code where it can do no harm, ``judging`` says outside of it what holds, ``grading`` does so for
a class, ``reports`` tells each student and the teacher. What passes between them stands in ``records``.
"""
