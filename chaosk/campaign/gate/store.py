"""A document that is rewritten as a whole after every run, so that an interrupted command can continue."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import ValidationError

from chaosk.core import files
from chaosk.core.errors import UsageError
from chaosk.core.model import Model
from chaosk.rundir.paths import document as plain

M = TypeVar("M", bound=Model)


@dataclass(frozen=True, slots=True)
class Store(Generic[M]):
    """Storage of one kind of document."""

    name: str
    """Name of the file."""
    kind: type[M]
    version: int
    """Version of the format; the document contains it as well."""
    command: str
    """The command that writes it, like ``chaosk gate``."""

    def save(self, folder: Path, document: M) -> None:
        """Write the document into a folder; raises UsageError on failure."""
        files.replace(folder / self.name, document.model_dump_json(indent=1) + "\n")

    def load(self, path: Path) -> M:
        """Load the document in a file or folder; raises UsageError if there is none in this version's format."""
        file = path / self.name if path.is_dir() else path
        try:
            text = plain(file) if path.is_dir() else file.read_bytes()
        except OSError as error:
            raise UsageError(
                f"{file}: cannot read it: {error.strerror}; name a folder or file that `{self.command}` wrote"
            ) from error
        try:
            return self.kind.model_validate_json(text)
        except ValidationError as error:
            if version := self._other_version(text):
                raise UsageError(
                    f"{file}: has version {version}; this chaosk reads version {self.version}; create it again"
                ) from error
            raise UsageError(f"{file}: is damaged, or was not written by `{self.command}`; create it again") from error

    def _other_version(self, text: bytes) -> int | None:
        """Return the version of a document if it is another one."""
        try:
            version = _Head.model_validate_json(text).version
        except ValidationError:
            return None
        return version if version != self.version else None


class _Head(Model, extra="ignore"):
    version: int
