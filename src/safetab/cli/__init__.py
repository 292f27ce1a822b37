"""The command line: words in, words and an exit status out. It computes nothing itself."""
