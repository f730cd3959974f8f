"""Step through a change: frames recorded while a graph is edited or run, shown one at a time in a player.

``player`` shows frames, ``animation`` is the drawing that they share, and ``graph_frame`` draws graphs as an animation.
``edit`` is the stepper for edits, and ``run`` the one for runs.
"""
