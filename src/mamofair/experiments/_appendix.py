"""What the four parts of the paper's appendix table have in common."""

TASKS = (("demographic_parity",), ("equal_opportunity",))

#: The methods of ours that the paper has, in both readings, and the one they must beat.
PUBLISHED = ("MF1", "MF1 code", "MF2", "MF2 code", "Unc", "Unc last", "Con")

#: All rows: the paper's, ours, and what a user would pick instead.
APPENDIX = (
    *("MF1", "MF1 code", "MF2", "MF2 code", "SFa", "SFa RBF", "Zaf", "Cot", "Unc", "Unc last", "Con"),
    *("mamofair", "mamofair joint"),
    *("EG", "GS", "TO", "fairret", "OxonFair"),
)

#: The same with plain gradient steps, which the paper's algorithm has and its code has not.
WITH_SGD = (*APPENDIX[:2], "MF1 SGD", *APPENDIX[2:])
