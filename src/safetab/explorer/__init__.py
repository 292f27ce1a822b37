"""The page that a browser shows: thin views over `planning` and `reading`, served on this machine alone.

`serve.py` starts and stops the server, `access.py` decides who may see it, `shell.py` puts a page into its frame and
`charts.py` draws. A `Page` (`page.py`) is what one command shows: its contents and what answers them. To add a page,
write a function that returns a `Page` and give that to `serve.serve`; it needs nothing else from the shell. Shiny and
Altair are imported when a page is made, never with the package.
"""
