"""Examination of a cluster and its hosts for chaosk's needs, with remedies; it changes nothing.

``chaosk doctor`` examines everything; a run starts with the same examination, without the parts that only warn. Each
module is one examination, and returns :class:`chaosk.run.preflight.diagnostic.Diagnostic` values.
``examination`` combines them.
"""
