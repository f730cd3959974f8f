"""Step through a change: frames recorded while a graph is edited or run, shown one at a time in one player.

``player`` puts frames together and ``animation`` holds the one drawing they share; ``graph_frame`` draws graphs as an
animation. The edit stepper is ``edit``, with ``snapshot`` (what a frame records), ``changes`` (what differs from the
frame before), ``rows`` (one place per node for all frames), ``excerpt`` (the part of a large graph that changed),
``listing`` and ``code`` (its panels). The run stepper is ``run``.
"""
