"""Serve the exercises to a class with JupyterHub: on one machine, or in a cluster with Zero to JupyterHub.

``jupyterhub_config.py`` is what ``jupyterhub -f`` reads; ``spawner`` starts the server of a student, in a ``bubble``
that shows the student's own folder and no other; ``start`` lays out the exercises there first; ``collect`` gathers the
answers for the grader. ``values.yaml`` and ``Dockerfile`` are for a cluster. ``README.md`` has the commands.
"""
