# Floor 4: the command.
