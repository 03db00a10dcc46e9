"""The paper's claims about its results, each with a verdict by its printed numbers and by our records."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from mamofair.experiments._evidence import Evidence
from mamofair.experiments._figure_relaxations import correlations
from mamofair.experiments._spec import DATA, SHORT

Verdict = Literal["holds", "does not hold", "cannot be told"]

# How much worse still counts as close: about the paper's own deviations, plus some rounding.
_CLOSE_ERROR, _CLOSE_GAP = 0.0101, 0.0301
_FAIR = 0.1  # up to which gap a method "performs well"; the unconstrained model has .16 to .2


@dataclass(frozen=True)
class Judgement:
    """A verdict on a claim, with the figures behind it."""

    verdict: Verdict
    figures: str


@dataclass(frozen=True)
class Claim:
    """A claim of the paper in our words, its source, and how it is judged."""

    text: str
    where: str
    judge: Callable[[Evidence], Judgement]


def _panel(panel: tuple[str, str]) -> str:
    return f"{DATA[panel[0]]} {SHORT[panel[1]]}"


def _listed(panels: Iterable[tuple[str, str]]) -> str:
    return ", ".join(map(_panel, panels)) or "none"


def _of(data: str, evidence: Evidence) -> list[tuple[str, str]]:
    return [panel for panel in evidence.panels if panel[0] == data]


def _from_cases(yes: Sequence[object], no: Sequence[object], total: int) -> Verdict:
    """Return whether a claim holds clearly in every case; it fails if it clearly fails in one."""
    return "holds" if len(yes) == total else "does not hold" if no else "cannot be told"


def least_loss(evidence: Evidence) -> Judgement:
    """Judge whether S-MAMO-fair is the most accurate method in every panel."""
    yes: list[tuple[str, str]] = []
    no: list[tuple[str, str]] = []
    for panel in evidence.panels:
        ahead = [evidence.difference(panel, other, evidence.single, "error") for other in evidence.baselines]
        yes += [panel] if all(difference.is_positive for difference in ahead) else []
        no += [panel] if any(difference.is_negative for difference in ahead) else []
    total = len(evidence.panels)
    figures = f"clearly the most accurate in {len(yes)} of {total} ({_listed(yes)}); clearly beaten in {_listed(no)}"
    return Judgement(_from_cases(yes, no, total), figures)


def fairer_at_equal_accuracy(evidence: Evidence) -> Judgement:
    """Judge whether S-MAMO-fair is fairer than each method that is as accurate."""
    yes: list[str] = []
    no: list[str] = []
    ties: list[str] = []
    for panel in evidence.panels:
        for other in evidence.baselines:
            error = evidence.difference(panel, other, evidence.single, "error")
            if error.is_positive or error.is_negative:
                continue
            gap = evidence.difference(panel, other, evidence.single, "gap")
            (yes if gap.is_positive else no if gap.is_negative else ties).append(f"{other} on {_panel(panel)}")
    total = len(yes) + len(no) + len(ties)
    if not total:
        return Judgement("cannot be told", "no method is as accurate")
    beaten = f", less fair than {', '.join(no)}" if no else ""
    return Judgement(_from_cases(yes, no, total), f"fairer in {len(yes)} of {total} such cases{beaten}")


def fair_at_little_cost(evidence: Evidence) -> Judgement:
    """Judge whether S-MAMO-fair is much fairer than the unconstrained model at nearly its accuracy."""
    gaps = {p: evidence.difference(p, evidence.unconstrained, evidence.single, "gap") for p in evidence.panels}
    costs = [evidence.difference(p, evidence.single, evidence.unconstrained, "error").mean for p in evidence.panels]
    yes = [panel for panel, gap in gaps.items() if gap.is_positive]
    no = [panel for panel, gap in gaps.items() if gap.is_negative]
    closed = sorted(gap.mean for gap in gaps.values())
    figures = (
        f"clearly fairer in {len(yes)} of {len(gaps)}, by {closed[0]:.3f} to {closed[-1]:.3f}; "
        f"error {min(costs):+.3f} to {max(costs):+.3f}"
    )
    return Judgement(_from_cases(yes, no, len(gaps)), figures)


def fairer_means_constant(evidence: Evidence) -> Judgement:
    """Judge whether methods that are fairer on Adult and COMPAS give up most of what accuracy there is."""
    near: list[str] = []
    far: list[str] = []
    for panel in [panel for panel in evidence.panels if panel[0] in ("adult", "compas")]:
        ours, constant = (evidence.values(panel, name, "error").mean() for name in (evidence.single, evidence.constant))
        for other in evidence.baselines:
            if evidence.difference(panel, other, evidence.single, "gap").is_negative:
                lost = (evidence.values(panel, other, "error").mean() - ours) / (constant - ours)
                (near if lost > 0.5 else far).append(f"{other} on {_panel(panel)}")
    if not near and not far:
        return Judgement("cannot be told", "no method is clearly fairer there")
    verdict: Verdict = "holds" if len(near) > len(far) else "does not hold"
    return Judgement(verdict, f"{len(near)} of {len(near) + len(far)} fairer methods lose more than half of the way")


def joint_beats_baselines(evidence: Evidence) -> Judgement:
    """Judge whether M-MAMO-fair is closer to the origin than every baseline in half of the panels."""
    yes = [
        panel
        for panel in evidence.panels
        if all(evidence.difference(panel, o, evidence.joint, "distance").mean > 0 for o in evidence.baselines)
    ]
    clear = [
        panel
        for panel in yes
        if all(evidence.difference(panel, o, evidence.joint, "distance").is_positive for o in evidence.baselines)
    ]
    verdict: Verdict = "holds" if 2 * len(clear) >= 8 else "does not hold" if 2 * len(yes) < 8 else "cannot be told"
    figures = (
        f"closer to no error and no gap than all baselines in {len(yes)} of 8 ({_listed(yes)}), clearly in {len(clear)}"
    )
    return Judgement(verdict, figures)


def joint_is_close_to_single(evidence: Evidence) -> Judgement:
    """Judge whether M-MAMO-fair is not much worse than S-MAMO-fair on Adult and CelebA, in error or in gap."""
    yes: list[tuple[str, str]] = []
    no: list[tuple[str, str]] = []
    details: list[str] = []
    for panel in [panel for panel in evidence.panels if panel[0] in ("adult", "celeba")]:
        error, gap = (evidence.difference(panel, evidence.joint, evidence.single, c).mean for c in ("error", "gap"))
        (yes if error <= _CLOSE_ERROR and gap <= _CLOSE_GAP else no).append(panel)
        details.append(f"{_panel(panel)} {error:+.3f}, {gap:+.3f}")
    figures = f"worse by at most .01 of error and .03 of gap in {len(yes)} of 4: {'; '.join(details)}"
    return Judgement(_from_cases(yes, no, 4), figures)


def joint_fails_on_compas(evidence: Evidence) -> Judgement:
    """Judge whether, on COMPAS, M-MAMO-fair loses fairness by DDP and not by DEO."""
    parity, opportunity = (
        evidence.difference(("compas", notion), evidence.joint, evidence.single, "gap") for notion in SHORT
    )
    holds = parity.is_positive and parity.mean > _CLOSE_GAP and opportunity.mean <= _CLOSE_GAP
    verdict: Verdict = "holds" if holds else "does not hold"
    return Judgement(
        verdict, f"gap of joint minus single training: DDP {parity.mean:+.3f}, DEO {opportunity.mean:+.3f}"
    )


def lower_loss_on_average(evidence: Evidence) -> Judgement:
    """Judge whether S-MAMO-fair errs less than each baseline, averaged over all panels."""
    leads = {other: evidence.mean_difference(other, evidence.single, "error") for other in evidence.baselines}
    yes = [other for other, lead in leads.items() if lead.is_positive]
    no = [other for other, lead in leads.items() if lead.is_negative]
    shown = ", ".join(f"{other} {lead.mean:+.3f}" for other, lead in leads.items())
    return Judgement(_from_cases(yes, no, len(leads)), f"error of others minus ours, mean of all panels: {shown}")


def zafar_on_celeba(evidence: Evidence) -> Judgement:
    """Judge whether, on CelebA, Zafar is a little more accurate and much less fair."""
    details, holds = [], []
    for panel in _of("celeba", evidence):
        error, gap = (evidence.difference(panel, "Zaf", evidence.single, column) for column in ("error", "gap"))
        holds.append(-_CLOSE_ERROR <= error.mean <= 0 and gap.is_positive and gap.mean > _CLOSE_GAP)
        details.append(f"{_panel(panel)} error {error.mean:+.3f}, gap {gap.mean:+.3f}")
    return Judgement("holds" if all(holds) else "does not hold", "; ".join(details))


def easier_data(evidence: Evidence) -> Judgement:
    """Judge whether on Dutch and CelebA all methods are fair, and S-MAMO-fair is the most accurate."""
    panels = [*_of("dutch", evidence), *_of("celeba", evidence)]
    methods = (evidence.single, *evidence.baselines)
    widest = max((evidence.values(panel, name, "gap").mean(), name, panel) for panel in panels for name in methods)
    beaten = [
        panel
        for panel in panels
        if any(evidence.difference(panel, o, evidence.single, "error").is_negative for o in evidence.baselines)
    ]
    figures = f"the widest gap is {widest[0]:.2f} ({widest[1]} on {_panel(widest[2])}); beaten in {_listed(beaten)}"
    return Judgement("holds" if widest[0] <= _FAIR and not beaten else "does not hold", figures)


def joint_dominates_baselines(evidence: Evidence) -> Judgement:
    """Judge whether, on Adult and CelebA, M-MAMO-fair is more accurate and fairer than each baseline."""
    cases = [(p, o) for p in (*_of("adult", evidence), *_of("celeba", evidence)) for o in evidence.baselines]
    differences = [[evidence.difference(p, o, evidence.joint, column) for column in ("error", "gap")] for p, o in cases]
    yes = [case for case, pair in zip(cases, differences, strict=True) if all(one.mean >= 0 for one in pair)]
    no = [case for case, pair in zip(cases, differences, strict=True) if any(one.is_negative for one in pair)]
    figures = f"at least as good in both in {len(yes)} of {len(cases)} cases, clearly worse in one of them in {len(no)}"
    return Judgement(_from_cases(yes, no, len(cases)), figures)


def joint_fails_on_dutch(evidence: Evidence) -> Judgement:
    """Judge whether, on Dutch, M-MAMO-fair is much less fair than S-MAMO-fair."""
    gaps = {p: evidence.difference(p, evidence.joint, evidence.single, "gap") for p in _of("dutch", evidence)}
    holds = any(gap.is_positive and gap.mean > _CLOSE_GAP for gap in gaps.values())
    details = ", ".join(f"{_panel(panel)} {gap.mean:+.3f}" for panel, gap in gaps.items())
    return Judgement("holds" if holds else "does not hold", f"gap of joint minus single training: {details}")


def fronts_are_larger(evidence: Evidence) -> Judgement:
    """Judge whether hypervolume and spacing are above those of the sum of losses and the unconstrained model."""
    yes: list[str] = []
    no: list[str] = []
    total = 0
    for data, reading in evidence.fronts[["data", "reading"]].drop_duplicates().itertuples(index=False, name=None):
        for measure in ("HV", "SP"):
            for other in ("Sum of losses", "Unconstrained"):
                difference = evidence.front_difference(data, reading, other, measure)
                case = f"{measure} against {other} on {DATA[data]} ({reading})"
                yes += [case] if difference.is_positive else []
                no += [case] if difference.is_negative else []
                total += 1
    return Judgement(_from_cases(yes, no, total), f"clearly above in {len(yes)} of {total} cases, below in {len(no)}")


def relaxation_is_closest(evidence: Evidence) -> Judgement:
    """Judge whether HTR follows the true gap better than the other relaxations, over the paper's Figure 1."""
    values = correlations()
    htr, others = values["Tanh(c=3)"], [values["Linear()"], values["ConvexConcave()"]]
    figures = f"correlation with the true gap {htr:.3f}; linear {others[0]:.2f}, convex-concave {others[1]:.2f}"
    return Judgement("holds" if htr > max(others) else "does not hold", figures)


CLAIMS = (
    Claim(
        "the method loses significantly less accuracy than debiasing algorithms of its time",
        "abstract",
        lower_loss_on_average,
    ),
    Claim(
        "HTR approximates the true gap better than the linear and convex-concave relaxations",
        "abstract, Sec. 4, Fig. 1",
        relaxation_is_closest,
    ),
    Claim(
        "S-MAMO-fair is much fairer than the unconstrained model at very little loss of accuracy",
        "Sec. 7.1",
        fair_at_little_cost,
    ),
    Claim("S-MAMO-fair always loses the least accuracy of all methods", "Sec. 7.1", least_loss),
    Claim(
        "where another method is as accurate, S-MAMO-fair is fairer (the paper excepts Zafar on Dutch DEO)",
        "Sec. 7.1",
        fairer_at_equal_accuracy,
    ),
    Claim(
        "methods that are fairer often end near the constant model, on Adult and COMPAS most clearly",
        "Sec. 7.1",
        fairer_means_constant,
    ),
    Claim("on CelebA Zafar is slightly more accurate and much less fair", "Sec. 7.1", zafar_on_celeba),
    Claim(
        "on Dutch and CelebA all methods are fair, and S-MAMO-fair is the most accurate",
        "Sec. 7.1",
        easier_data,
    ),
    Claim("M-MAMO-fair outperforms single-notion baselines in half of the cases", "Sec. 7.1", joint_beats_baselines),
    Claim("on Adult and CelebA M-MAMO-fair is very close to S-MAMO-fair", "Sec. 7.1", joint_is_close_to_single),
    Claim(
        "on Adult and CelebA M-MAMO-fair is more accurate and fairer than the baselines",
        "Sec. 7.1",
        joint_dominates_baselines,
    ),
    Claim("on COMPAS M-MAMO-fair does well by DEO but not by DDP", "Sec. 7.1", joint_fails_on_compas),
    Claim("on Dutch M-MAMO-fair performs poorly", "Sec. 7.1", joint_fails_on_dutch),
    Claim(
        "for two attributes, hypervolume and spacing are above those of the sum of losses and the unconstrained model",
        "Sec. 7.2",
        fronts_are_larger,
    ),
)
