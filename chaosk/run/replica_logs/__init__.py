"""The brokers' own log files, read after the audit with Kafka's tool on the hosts.

::

    said        parses a host's answer, line by line
    asking      sends a request to one host
    fetching    records the transactions in the logs of some topics' leaders
    copies      compares replicas
    replicas    records the comparison of all replicas at some offsets

Clients see neither transaction markers nor the producer of a batch: these are in the tables ``markers`` and
``stretches``, and ``dumps`` has a row for each partition that tells if they are complete. Clients cannot read from
followers' logs either: the table ``copies`` compares replicas at missing records, or everywhere if a scenario asks
for it.
"""
