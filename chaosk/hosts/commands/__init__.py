"""Commands that inject and undo faults on hosts, as values; one file for each kind. Pure."""
