"""Cache of Java names that every column of a query uses: resolved once a session.

PySpark resolves the class of Spark's functions, and each function in it, by a call to the JVM per use. For a name
without a package the JVM tries every imported package, in every jar. Of 6,171 commands to the JVM in one judgement,
more than 1,800 were such calls.
"""

from __future__ import annotations

from py4j.java_gateway import JavaClass, JavaMember
from pyspark.sql import SparkSession

NAMES = ("functions", "org.apache.spark.sql.functions", "PythonUtils")
"""Names as PySpark writes them; a name unknown to its version is left alone."""


class Remembering(JavaClass):
    """A JVM class that resolves each method once."""

    def __getattr__(self, name: str) -> object:
        member: object = super().__getattr__(name)  # type: ignore[no-untyped-call]
        if isinstance(member, JavaMember):  # stateless; other members may change
            vars(self)[name] = member
        return member


def remember(spark: SparkSession) -> None:
    """Resolve ``NAMES`` now and store them where PySpark looks first. Raises Py4JError if the JVM is gone."""
    jvm = spark.sparkContext._jvm  # noqa: SLF001 # PySpark has no public way to Java's names
    for name in NAMES:
        if name not in vars(jvm):
            found = getattr(jvm, name)
            if isinstance(found, JavaClass):  # an unknown name resolves to a package
                found.__class__ = Remembering
                vars(jvm)[name] = found
