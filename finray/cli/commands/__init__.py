"""What the command line and the jobs run: each module is one command, around library calls."""
