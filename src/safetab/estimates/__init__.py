"""What a noisy total says about the true one: an estimate and a 95 % interval, given that and how it was published.

It knows noise laws, thresholds and noisy counts; nothing of engines, parameters or records. It reads noisy numbers
alone and so costs no privacy.

- `publication`: what is known of a row besides its counts: laws, thresholds, suppression.
- `weights`: how the two noisy counts of a group are combined.
- `noise_tails`: chances of noise and of sums of noise, as arrays.
- `conditional`: the chance that the combination is at least t, given publication.
- `staircase`: that chance turned round, for every t at once.
- `intervals`: the three columns of a table.
"""

from safetab.estimates.intervals import Estimates, estimates_95
from safetab.estimates.publication import Publication

__all__ = ["Estimates", "Publication", "estimates_95"]
