"""One-file HTML pages: of a release, of an evaluation.

A page is self-contained: its style, its pictures and the few lines of script that search its table are in it, so it
opens without a network, can be mailed, and prints. `markup` has the parts of every page, `charts` the pictures,
`release_page` and `evaluation_page` put them together.
"""
