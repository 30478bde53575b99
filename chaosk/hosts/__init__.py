"""What is executed on machines: transports, commands, scripts, and the leases by which hosts undo faults."""
