import pytest

from mamofair.datasets import make_toy
from mamofair.datasets._toy import CLOUDS


def test_each_group_has_150_points_of_each_label():
    toy = make_toy()
    assert toy.y.groupby([toy.sensitive["group"], toy.y]).size().tolist() == [150] * 4


def test_the_seed_decides_the_points():
    assert make_toy(random_state=1).X.equals(make_toy(random_state=1).X)
    assert not make_toy(random_state=1).X.equals(make_toy(random_state=2).X)
    assert make_toy().X.iloc[0].tolist() == pytest.approx([4.23296307213118, 2.6514230817231867])


def test_the_points_lie_where_the_appendix_puts_them():
    toys = [make_toy(random_state=seed) for seed in range(50)]
    for label, group in ((0, "protected"), (1, "unprotected"), (0, "unprotected")):
        [(_, mean, variance, _, _)] = [cloud for cloud in CLOUDS if cloud[3:] == (label, group)]
        chosen = [toy.X[(toy.y == label) & (toy.sensitive["group"] == group)] for toy in toys]
        # 7,500 points: a mean has standard error 0.012, a variance 0.016.
        assert sum(x.mean() for x in chosen).to_numpy() / 50 == pytest.approx(mean, abs=0.05)
        assert sum(x.var() for x in chosen).to_numpy() / 50 == pytest.approx(variance, abs=0.07)


def test_the_rows_are_shuffled():
    assert 120 < make_toy().y.head(300).sum() < 180
