"""What a release promises, what it spends and how accurate it is; known before any noise is drawn.

- `events`: every noisy count of a release and its noise scale.
- `composition`: from the cost of one count to the cost of all counts that one person can change.
- `approximate_dp`, `zcdp`, `renyi`, `loss_distributions`: the theories, one module or folder each.
- `privacy_loss`: a release under all of them; `second_opinion`: the same question to another package.
- `accuracy`: margins of error, calibration of budgets.
- `paper`: the paper's formulas and tables, beside the exact figures.
- `rounding`: every bound is rounded up.
"""
