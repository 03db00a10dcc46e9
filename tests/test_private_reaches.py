"""Objects keep to themselves: how often code names what is private to another object or package."""

import runpy
from pathlib import Path

TOOL = runpy.run_path(str(Path(__file__).parents[1] / "tools" / "private_reaches.py"))


def test_private_attributes_and_modules_stay_at_home():
    attributes, imports = TOOL["count"]()
    assert len(attributes) <= 15, "\n".join(attributes)
    assert len(imports) <= 5, "\n".join(imports)


def test_a_reach_is_found_and_what_is_ones_own_is_not(tmp_path):
    path = tmp_path / "module.py"
    path.write_text("class A:\n    def __init__(self, b):\n        self._x = b._x\n        self._y = b.c._z\n")
    assert [line.split(": ", 1)[1] for line in TOOL["reaches"](path)] == ["b.c._z"]
