"""chaosk breaks a Kafka cluster on purpose and says, with evidence, what its users would have felt.

The way of the data, left to right::

    scenario (YAML) + inventory (YAML)
      -> plan        the timeline with symbolic targets; no network yet
      -> run         steps over SSH, probes as processes, a watcher on the cluster: all write events
      -> run directory
      -> analysis    PySpark: events -> checks -> findings and measures
      -> verdict     worst wins; verdict.json is the contract
      -> report      HTML, Markdown, JUnit, terminal

``run`` and ``analysis`` share only the event tables and the run directory, so a run can be judged again, elsewhere.
"""

from importlib.metadata import version

__version__ = version("chaosk")
