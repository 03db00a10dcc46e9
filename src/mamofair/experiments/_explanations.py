"""The fixed text of the result page: how to read it, what was assumed, and why printed numbers may differ from ours."""

INTRODUCTION = """\
# The paper's tables and figures, run again

`{command}` makes this page. The records behind every number are in [`paper/`](paper/): a line of JSON for each
method, task and split, with seed, versions, seconds, validation and test values. They were made one experiment at
a time, each by the same command with its name; the page is written anew from all that there are.

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

Rows without "code" follow the text, but for Adam, which is the code's: the text has plain gradient steps, which the
row MF1 SGD takes. Rows with "code" have what its code has and the text has not: one step of Frank–Wolfe, a tanh of
probabilities with c = 3 or 5, squared error as the anchor, weights from N(0, 0.02²), a forward pass with its own
dropout mask for each objective, initial values taken with dropout, and a learning rate of 0.005 on COMPAS, where its
script overrides the 0.01 of its settings. Departs: the code draws one more mask a step, for the metrics it prints;
nothing is learned from that pass.

Both divide gradients by initial values without a floor. Batches have 512 rows on Adult and COMPAS and 200 on Dutch
and CelebA, the last one of an epoch what is left. 35 epochs on Adult and 100 on COMPAS are known from its code, 35 on
Dutch and CelebA are assumed. Points are archived each epoch and chosen on the split's own validation rows. The sum of
losses is the sum of raw objectives, as the text has it; "Sum, normalised" divides each by its initial value.
Published rows of a table that differ in their weights alone are trained side by side: the same rows, initial weights,
batches and dropout. Rows that are not the paper's (mamofair, its peers) hold back as many rows as the split has,
drawn anew with the same shares of labels and groups.

Adult and COMPAS use the arrays of the paper's code, byte for byte. Dutch is one-hot coded, CelebA's attributes are −1
and 1, and sex is not among the features; `table-dutch-with-sex` and `table-celeba-with-sex` are the other reading.
SFa, Zaf and Cot were taken over by the paper from Lohaus et al. 2020: a difference there is no verdict on anybody's
code. Those rows have no gap or covariance allowed in training, and linear models unless said otherwise.

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

  | error and gap of | print | stored output | ours, as its code ran | ours, as the text has it |
  |---|---|---|---|---|
  | Adult, DDP | 0.18 ± 0.01, 0.09 ± 0.03 | 0.182 ± 0.005, 0.0885 ± 0.020 | {adult_code} | {adult_text} |
  | COMPAS, DEO | 0.33 ± 0.01, 0.08 ± 0.04 | 0.327 ± 0.011, 0.080 ± 0.034 | {compas_code} | {compas_text} |

- **The constant on COMPAS.** Its error is the share of the smaller class in the test rows: {constant:.4f} in our
  {splits} splits, .4556 over 300. Print has 0.46. The difference is the luck of the splits.
- **Hypervolume on Adult.** A constant classifier has no gap, so a front that holds one has a hypervolume of at least
  one minus its error, .76, by differences and by ratios. Lower values in print are of fronts without one, or of another
  measure.
- **Plain gradient steps.** Algorithm 1 steps along w − η∇L. With η = 0.01 and the code's 35 epochs that ends, on Adult
  and DDP, at an error and a gap of {plain_steps}, print has 0.18 and 0.09: the printed rows are Adam's, as in the code.
- **Unconstrained models.** Choosing among archived snapshots closes part of the gap without any fairness objective:
  that is why LINMAP's choice (Unc) is fairer than print, and the most accurate snapshot (Unc last) is nearer to it.
"""
