"""What is run on hosts to break them and put them right: commands as values, one kind a file. Pure."""
