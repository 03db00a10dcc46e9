"""Which point of a front `predict` uses, decided once."""

from weakref import WeakKeyDictionary

from mamofair.fronts import Front
from mamofair.selection import Choice, Selection


class SelectionError(AttributeError, ValueError):
    """No point of the front meets the selection.

    Raised by the attribute `selected_`, so it is an `AttributeError`, too: `hasattr` answers no, and whatever lists
    attributes, as notebooks do, goes on.
    """


#: By front: what each selection picks, or why there is nothing. Selections are kept, so that their `id` stays.
_CHOICES: WeakKeyDictionary[Front, dict[int, tuple[Selection, Choice | str]]] = WeakKeyDictionary()


def choose(selection: Selection, front: Front) -> Choice:
    """Return what a selection picks of a front, cached: a choice with confidence takes long. It does not warn.

    A different front, for example after further training, or a different selection is evaluated again.
    """
    choices = _CHOICES.setdefault(front, {})
    if id(selection) not in choices:
        try:
            choices[id(selection)] = selection, _pick(selection, front)
        except ValueError as error:
            choices[id(selection)] = selection, str(error)
    _, choice = choices[id(selection)]
    if isinstance(choice, str):
        raise SelectionError(choice, name=None)  # without a name Python does not guess which attribute was meant
    return choice


def _pick(selection: Selection, front: Front) -> Choice:
    """Return the choice of one of our selections, or of any function of a front."""
    own = getattr(selection, "choose", None)
    return Choice(selection(front)) if own is None else own(front)
