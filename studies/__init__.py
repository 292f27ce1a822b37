"""Studies of what a release gives: each figure of docs/studies is reproduced by one command."""
