"""What is promised and what is spent: events, composition, conversions, margins of error, calibration, ledger."""
