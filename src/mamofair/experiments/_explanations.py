"""The fixed text of the result page: how to read it, what was assumed, and why printed numbers may differ from ours."""

INTRODUCTION = """\
# The paper's tables and figures, run again

Made by `{command}`. The records behind every number are beside this page, in [`paper/`](paper/): a line of JSON for
each method, task and split, with seed, versions, seconds, validation and test values.

How to read it. Every method is trained on the paper's random splits (10,000 training and 5,000 validation rows, on
COMPAS 3,000 and 2,000; the rest is test). Its point is chosen on validation rows, by LINMAP unless said otherwise; the
numbers are of test rows, mean ± standard deviation over splits, the paper's in brackets. A cell **agrees** if the means
differ by no more than one standard deviation of either side, or by the paper's rounding (.005); else it carries ≠. A
cell that does not agree is a finding, not something to tune away. Where the paper leaves open how a number was made, or
its code differs from its text, each reading has a row, and a cell is called reproduced if one of them agrees; how many
readings were tried is said beside it.
"""

ASSUMPTIONS = """\
## What was assumed

Rows without "code" follow the text, but for Adam, which is the code's: the text has plain gradient steps. Batches are
of at most 512 rows on Adult and COMPAS and of 200 on Dutch and CelebA; 35 epochs on Adult and 100 on COMPAS are known
from its code, 35 on Dutch and CelebA are assumed. Where these records differ from the published code and are to be
run again with its setting: initial values have a floor of .05 (the code has none), batches are of nearly equal size
(500 rows on Adult and COMPAS), one dropout mask serves all objectives (the code draws one for each, and takes initial
values with dropout), the learning rate on COMPAS is 0.01 (its script has 0.005), the sum of losses is of values
divided by their initial ones, and validation rows are as many as the split has, drawn anew with the same shares of
labels and groups.

Adult and COMPAS use the arrays of the paper's code, byte for byte. Dutch is one-hot coded, CelebA's attributes are −1
and 1, and sex is not among the features; a second table of each has it among them. SFa, Zaf and Cot were taken over by
the paper from Lohaus et al. 2020: a difference there is no verdict on anybody's code. Those rows have no gap or
covariance allowed in training, and linear models unless said otherwise.

Rows marked \\* are told the sensitive attribute at prediction; the others are not, though on Adult and COMPAS it is
among the features. The paper's Unc row is compared with two readings: the snapshot that LINMAP picks from the archive
of an unconstrained run (Unc), and its most accurate snapshot (Unc last).
"""

QUICK = """\
# The paper's tables and figures: does everything run?

Made by `{command}`, with 600 training, 300 validation and 600 test rows, at most 10 epochs and two splits. These
numbers say that every method runs, and nothing about the paper: no cell is judged.
"""

EXPLANATIONS = """\
## Explanations

- **SearchFair and Cotter on Adult, DDP.** The printed rows (0.24 error, no gap) are the constant classifier's. The
  paper took them over from Lohaus et al. 2020, whose public notebook ends there: with λ = 1 it has a DDP of 0 and an
  accuracy of 76.07 %, the share of the majority. Both methods find better points here.
- **Features.** The paper says that it uses the features and the preprocessing of Lohaus et al. Their public notebook
  has CelebA with 38 attributes coded −1 and 1, smiling as the label, sex dropped: exactly the design of `table-celeba`.
  It has no loader for COMPAS or Dutch, so Dutch remains a guess.
- **The authors' notebook.** Its stored outputs are a third source beside print and our records:

  | cell | print, error | print, gap | stored output, error | stored output, gap |
  |---|---|---|---|---|
  | Adult, DDP | 0.18 ± 0.01 | 0.09 ± 0.03 | 0.182 ± 0.005 | 0.0885 ± 0.020 |
  | COMPAS, DEO | 0.33 ± 0.01 | 0.08 ± 0.04 | 0.327 ± 0.011 | 0.080 ± 0.034 |

- **The constant on COMPAS.** Its error is the share of the smaller class in the test rows: {constant:.4f} in our
  {splits} splits, .4556 over 300. Print has 0.46. The difference is the luck of the splits.
- **Hypervolume on Adult.** A constant classifier has no gap, so a front that holds one has a hypervolume of at least
  one minus its error, .76, by differences and by ratios. Lower values in print are of fronts without one, or of another
  measure.
- **Unconstrained models.** Choosing among archived snapshots closes part of the gap without any fairness objective:
  that is why LINMAP's choice (Unc) is fairer than print, and the most accurate snapshot (Unc last) is nearer to it.
"""
