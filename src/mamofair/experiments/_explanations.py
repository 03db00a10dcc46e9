"""The fixed text of the results page: how to read it, assumptions, and why printed numbers may differ from ours."""

INTRODUCTION = """\
# The paper's tables and figures, run again

`{command}` writes this page. The records behind every number are in [`paper/`](paper/): one line of JSON for each
method, task and split, with seed, versions, seconds, validation and test values. They were produced one experiment at a
time, by the same command with its name; the page is rebuilt from all records.

How to read it. Every method is trained on the paper's random splits (10,000 training and 5,000 validation rows, on
COMPAS 3,000 and 2,000; the rest is the test set). Its point is chosen on validation rows, by LINMAP unless noted
otherwise; the numbers are test results, mean ± standard deviation over splits, with the paper's in brackets. A cell
**agrees** if the means differ by no more than one standard deviation of either side, or by the paper's rounding (.005);
otherwise it is marked ≠. A cell that does not agree is a finding, not something to tune away. Where the paper leaves
open how a number was obtained, or its code differs from its text, each reading has its own row, and a cell counts as
reproduced if one of them agrees; the number of readings tried is given.
"""

ASSUMPTIONS = """\
## What was assumed

Rows without "code" follow the text, except for Adam, which comes from the code: the text describes plain gradient
steps, as in the row MF1 SGD. Rows with "code" follow the code where it differs from the text: one step of Frank–Wolfe,
a tanh of probabilities with c = 3 or 5, squared error as the anchor, weights from N(0, 0.02²), a forward pass with its
own dropout mask for each objective, initial values computed with dropout, and a learning rate of 0.005 on COMPAS, where
its script overrides the default of 0.01. Departs: the code draws one more mask per step, for the metrics it prints;
nothing is learned from that pass.

Both divide gradients by initial values without a floor. Batches have 512 rows on Adult and COMPAS and 200 on Dutch and
CelebA, and the last one of an epoch has the remainder. 35 epochs on Adult and 100 on COMPAS are known from its code; 35
on Dutch and CelebA are assumed. Points are archived after each epoch and chosen on the split's own validation rows. The
sum of losses is the sum of raw objectives, as in the text; "Sum, normalised" divides each by its initial value. The
paper's methods that differ only in their weights are trained side by side: the same rows, initial weights, batches and
dropout. Methods that are not the paper's (mamofair, its peers) hold out as many rows as the split has, drawn again and
stratified by label and groups.

Adult and COMPAS use the arrays of the paper's code, byte for byte. Dutch is one-hot encoded, CelebA's attributes are −1
and 1, and sex is not among the features; `table-dutch-with-sex` and `table-celeba-with-sex` are the other reading. The
paper took SFa, Zaf and Cot from Lohaus et al. 2020: a difference there says nothing about anybody's code. Those rows
allow no gap or covariance in training, and use linear models unless noted otherwise.

Rows marked \\* require the sensitive attribute at prediction; the others do not, although on Adult and COMPAS it is
among the features. The paper's Unc row is compared with two readings: the snapshot that LINMAP picks from the archive
of an unconstrained run (Unc), and its most accurate snapshot (Unc last).
"""

QUICK = """\
# The paper's tables and figures: does everything run?

Made by `{command}`, with 600 training, 300 validation and 600 test rows, at most 10 epochs and two splits. These
numbers only show that every method runs; they say nothing about the paper, and no cell is judged.
"""

EXPLANATIONS = """\
## Explanations

- **SearchFair and Cotter on Adult, DDP.** The printed rows (0.24 error, no gap) are those of a constant classifier. The
  paper took them from Lohaus et al. 2020, whose public notebook ends there: with λ = 1 it has a DDP of 0 and an
  accuracy of 76.07 %, the share of the majority class. Both methods find better points here.
- **Features.** The paper says that it uses the features and the preprocessing of Lohaus et al. Their public notebook
  uses CelebA with 38 attributes coded −1 and 1, smiling as the label and sex dropped: exactly the setup of
  `table-celeba`. It has no loader for COMPAS or Dutch, so Dutch remains a guess.
- **The authors' notebook.** Its stored outputs are a third source besides the printed numbers and our records:

  | error and gap of | print | stored output | ours, as its code ran | ours, as the text has it |
  |---|---|---|---|---|
  | Adult, DDP | 0.18 ± 0.01, 0.09 ± 0.03 | 0.182 ± 0.005, 0.0885 ± 0.020 | {adult_code} | {adult_text} |
  | COMPAS, DEO | 0.33 ± 0.01, 0.08 ± 0.04 | 0.327 ± 0.011, 0.080 ± 0.034 | {compas_code} | {compas_text} |

- **The constant on COMPAS.** Its error is the share of the smaller class in the test rows: {constant:.4f} in our
  {splits} splits, .4556 over 300. The paper prints 0.46. The difference is due to the splits.
- **Hypervolume on Adult.** A constant classifier has no gap, so a front that contains one has a hypervolume of at least
  one minus its error, .76, with differences and with ratios. Lower printed values come from fronts without one, or from
  another measure.
- **Plain gradient steps.** Algorithm 1 steps along w − η∇L. With η = 0.01 and the code's 35 epochs, this ends, on Adult
  and DDP, at an error and a gap of {plain_steps}; the paper prints 0.18 and 0.09. So the printed rows used Adam, as in
  the code.
- **Unconstrained models.** Choosing among archived snapshots closes part of the gap without any fairness objective:
  that is why LINMAP's choice (Unc) is fairer than the printed row, and the most accurate snapshot (Unc last) is closer
  to it.
"""
