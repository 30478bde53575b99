"""Network cuts by rules of the hosts' own packet filter (iptables), in chains of their own.

``party`` says what each side of a cut is, ``rules`` which packets are stopped where, ``commands`` how that gets onto a
host. All of it is pure. docs/decisions/network-cuts.md says what a cut means.
"""
