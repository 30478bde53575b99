"""The command line, one file a subcommand: the only place that prints and exits."""
