"""What the brokers' own files say, fetched after the audit by Kafka's tool on the hosts.

::

    command     what a broker's host is asked
    said        what it answered, line by line
    asking      one host asked
    fetching    the leaders of some topics asked for transactions, and what they say written down
    copies      whether replicas hold the same
    replicas    all replicas asked for some offsets, and whether they hold the same written down

No client is shown the markers that end transactions, nor which producer a batch is of: the tables ``markers``,
``stretches`` and ``dumps``, which says of each partition whether that is all there is. And no client is shown what
a replica holds that does not lead: the table ``copies``, for offsets at which records are missing, or for all of them
where a scenario asks for that.
"""
