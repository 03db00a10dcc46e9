"""What a network must return: one logit a row, which depends on what is trained."""

from typing import Any

from jaxtyping import Float, Shaped
from torch import Tensor, nn

__all__ = ["one_logit", "require_logits"]


def one_logit(output: Any) -> Float[Tensor, " n"]:
    """Return a network's output as one logit a row, and refuse anything else with advice."""
    if not isinstance(output, Tensor):
        raise ValueError(f"A network must return one logit a row: found a {type(output).__name__}, not a tensor.")
    if output.ndim == 0 or (output.ndim == 2 and output.shape[1] == 1):  # no axis is left where one row was squeezed
        return output.reshape(-1)
    if output.ndim != 1:
        advice = " Return the second logit minus the first." if output.ndim == 2 and output.shape[1] == 2 else ""
        raise ValueError(
            f"A network must return one logit a row: found an output of shape {tuple(output.shape)}.{advice}"
        )
    return output


def require_logits(network: Any, x: Shaped[Tensor, "n ..."]) -> None:
    """Raise a `ValueError` unless the network returns one logit a row that depends on its parameters."""
    if not isinstance(network, nn.Module):
        raise ValueError(f"`network` must return a torch.nn.Module: found {type(network).__name__}.")
    training = network.training
    network.eval()  # so that a single row suffices for normalisation layers, and no statistics change
    try:
        output = one_logit(network(x))
    except (RuntimeError, TypeError) as error:  # torch's ways to say that shapes or types do not fit
        shape, kind = ", ".join(map(str, x.shape[1:])), str(x.dtype).removeprefix("torch.")
        raise ValueError(
            f"`network` cannot take X, rows of shape ({shape}) as {kind} ({error}). If X holds tokens or "
            "categories for an embedding, keep them integers with `standardize=False`."
        ) from error
    network.train(training)
    if len(output) != len(x):
        raise ValueError(f"A network must return one logit a row: found {len(output)} for {len(x)} rows.")
    if not output.requires_grad:
        raise ValueError("A network must have parameters to train: all of its parameters are frozen, or it has none.")
    node = output.grad_fn
    while node is not None and node.name().startswith(_RESHAPING):
        node = node.next_functions[0][0]
    if node is not None and node.name().startswith(_SQUASHING):
        raise ValueError(
            "A network must return logits: found a sigmoid or softmax at its end. Leave the last layer out."
        )


_RESHAPING = ("View", "Squeeze", "Unsqueeze", "Reshape", "UnsafeView", "Select", "Alias", "Permute")
_SQUASHING = ("Sigmoid", "Softmax", "LogSoftmax", "LogSigmoid", "Tanh")
