"""What the brokers' own files say of transactions, fetched after the audit by Kafka's tool on the hosts.

::

    command     what a broker's host is asked
    said        what it answered, line by line
    fetching    the leaders of some topics asked, and written down

No client is shown the markers that end transactions, nor which producer a batch is of. It writes the tables
``markers``, ``stretches`` and ``dumps``; ``dumps`` says of each partition whether that is all there is.
"""
