"""The paper's tables and figures, as data and drawings."""
