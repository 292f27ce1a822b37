"""The population as public facts: geography, characteristic iterations, who belongs to which group, age bins."""
