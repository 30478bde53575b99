"""Network cuts by the packet filters of hosts (iptables or nft), in separate chains or tables.

``party`` describes a side of a cut, ``rules`` maps two sides to packet rules by host, and ``commands`` installs rules
on a host and removes them. All of it is pure. The step that yields these commands is :mod:`chaosk.steps._between`, the
script that runs on a host ``hosts/scripts/cut.sh``. The meaning of a cut: docs/decisions/network-cuts.md.
"""
