"""Shared parts of the paper's appendix table for four data sets."""

TASKS = (("demographic_parity",), ("equal_opportunity",))

#: The paper's methods, in both readings, and the baseline they must beat.
PUBLISHED = ("MF1", "MF1 code", "MF2", "MF2 code", "Unc", "Unc last", "Con")

#: All rows: the paper's, ours, and what a user would pick instead.
APPENDIX = (
    *("MF1", "MF1 code", "MF2", "MF2 code", "SFa", "SFa RBF", "Zaf", "Cot", "Unc", "Unc last", "Con"),
    *("mamofair", "mamofair joint"),
    *("EG", "GS", "TO", "fairret", "OxonFair"),
)

#: The same with plain gradient steps, as in the paper's algorithm but not in its code.
WITH_SGD = (*APPENDIX[:2], "MF1 SGD", *APPENDIX[2:])
