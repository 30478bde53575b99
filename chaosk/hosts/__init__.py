"""Commands, scripts and transports for hosts, and the leases by which hosts undo faults."""
