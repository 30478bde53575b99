"""Java's names that every column of a query asks for: looked up once a session, not each time.

PySpark finds the class of Spark's functions, and each function in it, by a question to the JVM per use, and for a name
without a package the JVM tries every package that was imported, in every jar. Of 6,171 commands that one judgement sent
to the JVM more than 1,800 were such questions.
"""

from __future__ import annotations

from py4j.java_gateway import JavaClass, JavaMember
from pyspark.sql import SparkSession

NAMES = ("functions", "org.apache.spark.sql.functions", "PythonUtils")
"""As PySpark writes them; one that another version does not know of is left alone."""


class Remembering(JavaClass):
    """A class of the JVM that asks for a method once."""

    def __getattr__(self, name: str) -> object:
        member: object = super().__getattr__(name)  # type: ignore[no-untyped-call]
        if isinstance(member, JavaMember):  # holds nothing; what is no method may change
            vars(self)[name] = member
        return member


def remember(spark: SparkSession) -> None:
    """Have ``NAMES`` looked up now, and where PySpark looks first from here on. Raises Py4JError if the JVM is gone."""
    jvm = spark.sparkContext._jvm  # noqa: SLF001 # as PySpark's users do: there is no other way to Java's names
    for name in NAMES:
        if name not in vars(jvm):
            found = getattr(jvm, name)
            if isinstance(found, JavaClass):  # a name that nothing has is taken for a package
                found.__class__ = Remembering
                vars(jvm)[name] = found
