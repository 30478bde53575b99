"""The audit's process: ``python -m chaosk.run.audit SPEC.json`` prints an AuditResult as one JSON line."""

from __future__ import annotations

import sys
from pathlib import Path

from pydantic import ValidationError

from chaosk.core.errors import ChaoskError, UsageError
from chaosk.run.audit.spec import AuditSpec
from chaosk.run.audit.tail_audit import audit


def main(arguments: list[str]) -> int:
    """Execute the audit that the file in ``arguments`` describes; return the exit code, 0 also if it is incomplete."""
    try:
        if len(arguments) != 1:
            raise UsageError("usage: python -m chaosk.run.audit SPEC.json")
        result = audit(_load(Path(arguments[0])))
    except ChaoskError as error:
        sys.stderr.write(f"audit: {error}\n")
        return error.exit_code
    sys.stdout.write(result.model_dump_json() + "\n")
    return 0


def _load(path: Path) -> AuditSpec:
    try:
        return AuditSpec.model_validate_json(path.read_bytes())
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    except ValidationError as error:
        raise UsageError(f"{path}: not an audit's specification: {error.errors()[0]['msg']}") from error


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
