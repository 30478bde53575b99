"""Whether chaosk can do its work on a cluster, and what to do where it cannot; nothing is changed by asking.

``chaosk doctor`` looks at everything; a run asks the same questions first, without those that only warn. One module
an examination; each returns :class:`chaosk.run.preflight.finding.Finding` values. ``examination`` asks them all.
"""
