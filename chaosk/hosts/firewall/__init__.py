"""Network cuts by the packet filters of hosts (iptables or nft), in separate chains or tables.

``party`` describes a side of a cut, ``rules`` maps two sides to packet rules by host, and ``commands`` installs rules
on a host. All of it is pure. The meaning of a cut: docs/decisions/network-cuts.md.
"""
