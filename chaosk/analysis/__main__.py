"""``python -m chaosk.analysis RUN_DIR [--master URL] [--wait] [--until PID]``: the analysis as a process of its own.

With ``--wait`` it starts Spark, warms it up and then waits for a line on stdin: the run starts it while its probes
drain, so that the JVM's start costs nothing. The last line on stdout is one JSON object: the path of the verdict and
how long each part took. With ``--until`` it ends, and its JVM, when the process that started it has. It exits with 0
when there is a verdict, whatever it says.
"""

from __future__ import annotations

import sys

from chaosk.analysis.process import main

if __name__ == "__main__":
    sys.exit(main())
