"""The teacher's side of the book: hand out exercises, grade submissions, and report on the results.

``assignment`` describes the task, ``handout`` builds the zip for students, ``collect`` finds their files, ``sandbox``
runs their code safely, ``judge`` decides outside the sandbox which properties hold, ``grade`` processes a class,
``reports`` writes pages for students and teacher, and ``exports`` fills in the files of learning systems.
``grade.records`` defines the data that they exchange.
"""
