"""`--gate` and `--policy`: exit codes by which a build goes on or stops."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mamofair.cli._console import print_note

if TYPE_CHECKING:
    from mamofair.metrics import Assessment, Policy

__all__ = ["Gate", "MaxUnknown", "PolicyFile", "leave_by_gate", "open_gate"]

Gate = Annotated[
    bool,
    typer.Option("--gate", help="Exit with code 0 if all limits are kept, 3 if one is not, 4 if the data cannot tell."),
]
PolicyFile = Annotated[
    Path | None,
    typer.Option("--policy", help="A TOML file that says what `--gate` requires: attributes, notions and limits."),
]


MaxUnknown = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=1,
        help="The largest share of rows whose group may be unknown where `--gate` says within; 0.05 by default.",
    ),
]


def open_gate(
    gate: bool, policy: Path | None, has_limits: bool = True, max_unknown: float | None = None
) -> "Policy | None":
    """Return the policy, if there is one; a `ValueError` if there are no limits to compare with."""
    if policy is not None and max_unknown is not None:
        raise ValueError(
            "`--policy` says what is judged: leave `--max-unknown` out, or set `max_unknown` in the policy."
        )
    if policy is not None:
        from mamofair.metrics import read_policy

        return read_policy(policy)
    if gate and not has_limits:
        raise ValueError("`--gate` needs limits: add `--within 0.05`, or `--policy FILE`.")
    return None


def leave_by_gate(assessment: "Assessment | None") -> None:
    """Say what the gate found, on stderr, and exit with its code; without a gate, go on."""
    if assessment is None:
        return
    for sentence in assessment.sentences():
        print_note(sentence)
    raise typer.Exit(assessment.exit_code)
