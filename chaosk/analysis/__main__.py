"""Run the analysis as its own process: ``python -m chaosk.analysis RUN_DIR [--master URL] [--wait] [--until PID]``.

With ``--wait`` it starts Spark, warms it up and then waits for a line on stdin: the run starts it while its probes
drain, so that the JVM's start costs no time. The last line on stdout is one JSON object with the path of the verdict
and the duration of each part. With ``--until`` it exits, with its JVM, when the process PID has ended. The exit status
is 0 if there is a verdict, whichever it is.
"""

from __future__ import annotations

import sys

from chaosk.analysis.process import main

if __name__ == "__main__":
    sys.exit(main())
