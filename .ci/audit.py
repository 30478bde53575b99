"""Known vulnerabilities of what is locked: ``audit.py REQUIREMENTS [OPTIONS OF PIP-AUDIT]``.

A vulnerability fails. An advisory service that cannot be asked does not: what is wrong then is no matter of this tree,
and builds without a network must go on; it is said, so that nobody takes silence for safety.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import Any

UNREACHABLE = re.compile(r"ConnectionError|ConnectTimeout|ReadTimeout|ProxyError|SSLError|ServiceError|Max retries")
OPTIONS = ("--no-deps", "--disable-pip", "--format", "json", "--progress-spinner", "off", "--timeout", "10")


def judged(said: str, errors: str) -> tuple[int, str]:
    """The exit status and what to say, from what pip-audit said on stdout and stderr."""
    try:
        packages: list[dict[str, Any]] = json.loads(said)["dependencies"]
    except (ValueError, KeyError):
        last = (errors.strip().splitlines() or ["it said nothing"])[-1][:300]
        if UNREACHABLE.search(errors):
            return 0, f"NOT AUDITED, the advisory service cannot be asked: {last}"
        return 1, f"pip-audit failed: {last}"
    bad = [
        f"{each['name']} {each['version']}: {found['id']}, fixed in {', '.join(found['fix_versions']) or 'no version'}"
        for each in packages
        for found in each.get("vulns", ())
    ]
    unknown = [each["name"] for each in packages if "skip_reason" in each]
    which = f"all {len(unknown)}" if len(unknown) == len(packages) else ", ".join(unknown)
    rest = f"; NOT AUDITED, the advisory service does not know them: {which}" if unknown else ""
    if bad:
        return 1, "\n".join([f"{len(bad)} known vulnerabilities; ./dev lock --upgrade{rest}", *bad])
    return 0, f"{len(packages) - len(unknown)} packages without a known vulnerability{rest}"


def main(arguments: list[str]) -> int:
    """Ask, and print what came of it."""
    command = [sys.executable, "-m", "pip_audit", "-r", *arguments, *OPTIONS]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    status, says = judged(done.stdout, done.stderr)
    print(f"audit: {says}", file=sys.stderr)  # noqa: T201 - what it is for
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
