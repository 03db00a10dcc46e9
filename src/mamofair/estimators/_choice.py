"""Which point of a front `predict` uses, decided once."""

from weakref import WeakKeyDictionary

from mamofair.fronts import Front
from mamofair.selection import Selection


class SelectionError(AttributeError, ValueError):
    """No point of the front meets the selection.

    Raised by the attribute `selected_`, so it is an `AttributeError`, too: `hasattr` answers no, and whatever lists
    attributes, as notebooks do, goes on.
    """


#: By front: the row that each selection picks, or why there is none. Selections are kept, so that their `id` stays.
_CHOICES: WeakKeyDictionary[Front, dict[int, tuple[Selection, int | str]]] = WeakKeyDictionary()


def choose(selection: Selection, front: Front) -> int:
    """Return the row of the front that a selection picks, cached: a choice with confidence takes long.

    A different front, for example after further training, or a different selection is evaluated again.
    """
    choices = _CHOICES.setdefault(front, {})
    if id(selection) not in choices:
        try:
            choices[id(selection)] = selection, selection(front)
        except ValueError as error:
            choices[id(selection)] = selection, str(error)
    _, choice = choices[id(selection)]
    if isinstance(choice, str):
        raise SelectionError(choice, name=None)  # without a name Python does not guess which attribute was meant
    return choice
