"""The entry of ``chaosk`` and ``python -m chaosk``."""

from __future__ import annotations

import sys

from chaosk.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
