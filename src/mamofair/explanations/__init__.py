"""What a fairer model does to people, in numbers and in plain sentences.

`who_pays` says whose decisions change between two models and why a gap shrank; `price` says how many errors each
reduction of a gap by 0.01 costs; `conflict` says how much the objectives pulled against each other in training. All of
them describe the given rows: equal rates on these rows do not mean equal rates in use, nor justice.

>>> print(who_pays([1, 0, 1, 1], [1, 0, 1, 0], sensitive_features={"sex": ["F", "F", "M", "M"]}))
The decision changes for 1 of 4 people: 0 get a favorable one, 1 loses it.
Of 1,000 people whose sex is F, as many as before are decided favorably; of 1,000 people whose sex is M, 500 fewer.
The gap shrinks from 0.500 to 0.000, only because group M lost (levelling down).

Without predictions, counts give the net change of each group:

>>> from mamofair import FairNetClassifier
>>> from mamofair.datasets import make_toy
>>> toy = make_toy()
>>> front = FairNetClassifier(epochs=2, random_state=0).fit(toy.X, toy.y, sensitive_features=toy.sensitive).front_
>>> changes = who_pays_on_front(front, 0, -1, sensitive_features=toy.sensitive)
>>> names = {"group": ("protected", "unprotected")}
>>> same = who_pays_by_counts(front[0].valid, front[-1].valid, names, front.criteria)
>>> str(changes) == str(same)
True

So does the price of each step along the front:

>>> found: Price = price(front)
>>> list(found.frame())
['gap', 'part', 'from', 'to', 'gap_before', 'gap_after', 'error_before', 'error_after', 'price', 'low', 'high']
"""

from mamofair.explanations._conflict import Conflict, conflict
from mamofair.explanations._price import Price, price, price_between
from mamofair.explanations._who_pays import WhoPays, who_pays, who_pays_by_counts, who_pays_on_front

__all__ = [
    "Conflict",
    "Price",
    "WhoPays",
    "conflict",
    "price",
    "price_between",
    "who_pays",
    "who_pays_by_counts",
    "who_pays_on_front",
]
