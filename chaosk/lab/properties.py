"""Properties files of Java, as Kafka and ZooKeeper read them. Pure."""

from __future__ import annotations


def properties(settings: dict[str, str]) -> str:
    r"""Format a properties file of Java, with backslashes and line ends escaped as ``java.util.Properties`` requires.

    >>> properties({"a": "b"})
    'a=b\n'
    """
    return "".join(f"{_escaped(key, ':= ')}={_escaped(value, '')}\n" for key, value in settings.items())


def _escaped(text: str, separators: str) -> str:
    for plain, written in (("\\", "\\\\"), ("\n", "\\n"), ("\r", "\\r"), *((one, f"\\{one}") for one in separators)):
        text = text.replace(plain, written)
    return text if not text.startswith((" ", "#", "!")) else f"\\{text}"
