"""Columns whose names say that they may be protected attributes, such as age or origin."""

import re
import unicodedata
from collections.abc import Iterator, Sequence

from mamofair._messages import cut, quote
from mamofair.tables.data_check import ColumnUse, Finding

__all__ = ["find_protected"]

_MOST = 160  # characters of a list of columns

# By which people must not be told apart in many laws, in the languages whose tables we have met.
_WORD = re.compile(
    r"sex|gender|geschlecht|sexe|sexo|genero|sesso|geslacht"
    r"|age|dob|alter|altersgruppe|edad|eta|leeftijd|birth|birthdate|birthday|birthplace|geburtsdatum|geburtsjahr"
    r"|race|racial|ethnicity|ethnic|ethnie|etnia|raza|razza"
    r"|origin|herkunft|herkomst|origine|origen|native|nationality|citizenship|citizen|immigrant|migrant|migration"
    r"|nationalitat|nationalite|nacionalidad|nazionalita|nationaliteit|staatsangehorigkeit"
    r"|religion|religious|konfession|religione|marital|married|familienstand|matrimonial"
    r"|disability|disabled|handicap|behinderung|pregnancy|pregnant|orientation|veteran"
)


def find_protected(uses: Sequence[ColumnUse]) -> Iterator[Finding]:
    """Yield one finding that names all features that may be protected attributes and are not named as sensitive."""
    names = [use.column for use in uses if use.role == "feature" and _is_protected(use.column)]
    if names:
        named = cut(", ".join(map(quote, names)), _MOST)
        is_one = len(names) == 1
        what = "is a feature and no sensitive attribute" if is_one else "are features and no sensitive attributes"
        yield Finding("", "may be protected", f"{named} {what}: compare with `--sensitive`, or `--drop`")


def _is_protected(name: str) -> bool:
    """Whether a word of a name is one of a protected attribute; `mortgage` has no `age`."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    plain = unicodedata.normalize("NFKD", spaced).encode("ascii", "ignore").decode().casefold()
    return any(_WORD.fullmatch(word) for word in re.split(r"[^a-z]+", plain))
