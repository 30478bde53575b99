"""From a cluster to its inventory: what the cluster, its hosts and files of others say, merged into one text.

Each source is a small file that turns its answers into :class:`~chaosk.discovery.findings.Findings`: values, each with
where it was learned::

    cluster_findings     Metadata, DescribeConfigs and DescribeQuorum, by Kafka's protocol
    host_findings        the servers' processes, over SSH
    properties_files     server.properties and zoo.cfg
    ansible_findings     inventories of Ansible
    client_properties    a Java client's client.properties, as librdkafka's settings

:mod:`merge` decides between them and asks for what none of them says; :mod:`inventory_text` writes the result,
:mod:`drift` compares it with an inventory. These three are pure. :mod:`search` asks the sources.
"""
