"""The paper's formulas and tables, to be compared with the exact figures; no noise depends on them."""
