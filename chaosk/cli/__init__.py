"""The command line, one file for each subcommand: the only room that prints and exits."""
