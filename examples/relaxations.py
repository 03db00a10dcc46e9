"""How well relaxations follow the true gap
========================================

The paper's Figure 1 as numbers: how well relaxations follow the true gap of demographic parity.

::

    python examples/relaxations.py
"""

from mamofair.experiments._figure_relaxations import correlations

if __name__ == "__main__":
    print("correlation with the true |DDP| over linear classifiers on the toy data")
    for name, value in correlations().items():
        print(f"  {name:20} {value:6.3f}")
