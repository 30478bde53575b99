"""Stop when a URL does not answer with success."""

from __future__ import annotations

import http.client
import threading
import time
import urllib.error
import urllib.request
from typing import Annotated, ClassVar

from pydantic import Field, StringConstraints

from chaosk.core.units import Duration
from chaosk.spec.contracts.stop_condition import StopCondition, StopConditionInputs, StopReason


class FailingUrl(StopCondition):
    """Stop when a URL does not answer with a status from 200 to 299 in time, like a health page or an alert's state.

    The request is a GET from the probes' location: inside the inventory's network namespace, if it has one.
    """

    example: ClassVar[str] = """\
stop_conditions:
  - url: {url: "http://monitor.example.com/shop/healthy", every: 2s}
"""

    url: Annotated[str, StringConstraints(pattern=r"^https?://[^/?#\s@]+([/?#]\S*)?$", max_length=2000)]
    """http or https, without a user or a password in it."""
    every: Annotated[Duration, Field(ge=0.1, le=600.0)] = 5.0
    """Pause between an answer and the next request."""
    timeout: Annotated[Duration, Field(ge=0.1, le=60.0)] = 5.0
    """Time-out of the answer."""

    def pause(self) -> float:
        """The configured pause."""
        return self.every

    def look(self, sight: StopConditionInputs) -> StopReason | None:  # noqa: ARG002 - it looks at nothing of chaosk's
        """Ask once, in a separate thread: a socket's time-out does not limit an answer that arrives in small pieces."""
        problems: list[str | None] = []
        asking = threading.Thread(target=lambda: problems.append(self._ask()), daemon=True)
        asking.start()
        asking.join(self.timeout)
        problem = problems[0] if problems else f"no answer within {self.timeout:g} s"
        return None if problem is None else StopReason(time.monotonic_ns(), f"{self.url}: {problem}")

    def _ask(self) -> str | None:
        request = urllib.request.Request(self.url, headers={"User-Agent": "chaosk"})  # noqa: S310 - http(s), see `url`
        try:
            with _opener().open(request, timeout=self.timeout) as answer:
                return None if 200 <= answer.status < 300 else f"status {answer.status}"
        except urllib.error.HTTPError as error:
            with error:
                return f"status {error.code}"
        except (OSError, http.client.HTTPException, ValueError) as error:
            return str(getattr(error, "reason", None) or error) or type(error).__name__


def _opener() -> urllib.request.OpenerDirector:
    """Return an opener for http and https only, also after redirects, without a proxy."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.HTTPHandler(), urllib.request.HTTPSHandler(), urllib.request.HTTPRedirectHandler(),
        urllib.request.HTTPErrorProcessor(), urllib.request.HTTPDefaultErrorHandler(),
    ):  # fmt: skip
        opener.add_handler(handler)
    return opener
