"""The teacher's side of the book: hand exercises out, grade what comes back, learn what to teach again.

``assignment`` says what is asked, ``handout`` makes the zip for students, ``collect`` finds what they handed in,
``sandbox`` runs their code where it can do no harm, ``judge`` says outside of it what holds, ``grade`` does so for a
class, ``reports`` tells each student and the teacher, ``exports`` the learning systems.
What passes between them stands in ``grade.records``.
"""
