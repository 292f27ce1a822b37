"""The algorithm of the paper, one module for each step; `plan` says what will be measured before anything is."""
