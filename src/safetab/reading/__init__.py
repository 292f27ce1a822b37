"""A published release opened for questions: sums, shares, comparisons, each with an interval that holds.

It needs OUT alone and reads noisy numbers alone, so it costs no privacy. `release` is what `safetab.open` returns;
`rows` fetches from the tables, `levels` says how rows were measured, `regions` and `groups` which of them overlap,
`cover` which rows give an answer with the least variance, `questions` puts the answer together, `answers` is what comes
out.
"""
