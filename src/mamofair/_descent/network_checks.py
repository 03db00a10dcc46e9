"""Checks that a network returns one logit per row, which depends on its parameters."""

import inspect
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from mamofair._messages import cut

__all__ = ["build_network", "one_logit", "require_logits", "require_shareable"]

_ROWS = 1000  # to try an embedding with: ids beyond its table need not be in the first rows


def build_network(recipe: Callable[[int], Any], width: int, rows: Callable[[int], Shaped[Tensor, "n ..."]]) -> Any:
    """Return a new network for rows of this many columns; a `ValueError` with advice if the recipe makes none.

    `rows` returns the first rows, as many as it is asked for, to try the network with.
    """
    _require_takes_width(recipe)
    network = recipe(width)
    holds_ids = isinstance(network, nn.Module) and _has_embedding(network)
    require_logits(network, rows(_ROWS if holds_ids else 2))
    return network


def _require_takes_width(recipe: Callable[[int], Any]) -> None:
    """Raise a `ValueError` unless a recipe can be called with the number of features."""
    name = getattr(recipe, "__name__", type(recipe).__name__)
    if isinstance(recipe, type) and not issubclass(recipe, nn.Module):
        raise ValueError(
            f"`network` must be a callable that takes the number of features: found the class {name}. Pass one of "
            f"its values, such as {name}()."
        )
    try:
        inspect.signature(recipe).bind(1)
    except TypeError as error:
        raise ValueError(
            f"`network` must be a callable that takes the number of features and nothing else: found {name}, which "
            f"cannot be called so ({error}). Wrap it, as in network=lambda features: {name}(…)."
        ) from None
    except ValueError:  # of some callables written in C, nobody knows
        return


def one_logit(output: Any) -> Float[Tensor, " n"]:
    """Return a network's output as one logit per row; a `ValueError` with advice if it is anything else."""
    if not isinstance(output, Tensor):
        raise ValueError(f"A network must return one logit per row: found a {type(output).__name__}, not a tensor.")
    if output.ndim == 0 or (output.ndim == 2 and output.shape[1] == 1):  # a squeezed single row has no axis left
        return output.reshape(-1)
    if output.ndim != 1:
        advice = " Return the second logit minus the first." if output.ndim == 2 and output.shape[1] == 2 else ""
        raise ValueError(
            f"A network must return one logit per row: found an output of shape {tuple(output.shape)}.{advice}"
        )
    return output


def require_logits(network: Any, x: Shaped[Tensor, "n ..."]) -> None:
    """Raise a `ValueError` unless the network returns one logit per row that depends on its parameters."""
    if not isinstance(network, nn.Module):
        raise ValueError(f"`network` must return a torch.nn.Module: found {type(network).__name__}.")
    _require_float32(network)
    training = network.training
    network.eval()  # so that a single row suffices for normalisation layers, and no statistics change
    try:
        output = one_logit(network(x))
    except (RuntimeError, TypeError, IndexError) as error:  # torch's errors for shapes, types or ids that do not fit
        shape, kind = ", ".join(map(str, x.shape[1:])), str(x.dtype).removeprefix("torch.")
        raise ValueError(
            f"`network` cannot take X, rows of shape ({shape}) as {kind} ({cut(' '.join(str(error).split()), 200)}). "
            f"{_advice(network, x, str(error))}"
        ) from error
    network.train(training)
    if len(output) != len(x):
        raise ValueError(f"A network must return one logit per row: found {len(output)} for {len(x)} rows.")
    if not output.requires_grad:
        raise ValueError("A network must have parameters to train: all of its parameters are frozen, or it has none.")
    node = output.grad_fn
    while node is not None and node.name().startswith(_RESHAPING):
        node = node.next_functions[0][0]
    if node is not None and node.name().startswith(_SQUASHING):
        raise ValueError(
            "A network must return logits: found a sigmoid or softmax at its end. Leave the last layer out."
        )


def require_shareable(network: nn.Module, x: Shaped[Tensor, "n ..."]) -> None:
    """Raise a `ValueError` if the network depends on rows of other ranks, which it would not see."""
    twin = deepcopy(network).train()
    layers = [type(layer).__name__ for layer in twin.modules() if isinstance(layer, _BatchNorm)]
    before = [buffer.clone() for buffer in twin.buffers()]
    twin(x)
    changes = not all(torch.equal(now, then) for now, then in zip(twin.buffers(), before, strict=True))
    if layers or changes:
        raise ValueError(
            f"A network that several ranks train must treat each row by itself: found {layers[0] if layers else 'one'} "
            "that keeps statistics of the rows it sees. Use LayerNorm or GroupNorm instead, or train in one process."
        )


def _require_float32(network: nn.Module) -> None:
    """Raise a `ValueError` for parameters of another precision, in which Adam's small steps would be lost."""
    for name, parameter in network.named_parameters():
        if parameter.is_floating_point() and parameter.dtype != torch.float32:
            kind = str(parameter.dtype).removeprefix("torch.")
            advice = "; to compute in half precision, use torch.autocast in its `forward`" if "64" not in kind else ""
            raise ValueError(
                f"`network` must have parameters in float32: found {kind} in {name}. Return network.float(){advice}."
            )


def _has_embedding(network: nn.Module) -> bool:
    return any(isinstance(layer, nn.Embedding | nn.EmbeddingBag) for layer in network.modules())


def _advice(network: nn.Module, x: Tensor, error: str) -> str:
    """Return advice for a network that cannot take its rows, as far as possible."""
    if not x.is_floating_point() and "index out of range" in error:
        return f"Its embedding must have a row for each value of X: found values from {x.min()} to {x.max()}."
    if not x.is_floating_point():
        return (
            "With `standardize=False` integers stay integers, for embeddings: pass pictures and other numbers as "
            "X.astype('float32')."
        )
    if "Long" in error or _has_embedding(network):
        return "If X holds tokens or categories for an embedding, keep them integers with `standardize=False`."
    return "Build its first layer for such rows: `network` is called with their number of columns, X.shape[1]."


_RESHAPING = ("View", "Squeeze", "Unsqueeze", "Reshape", "UnsafeView", "Select", "Slice", "Alias", "Permute")
_SQUASHING = ("Sigmoid", "Softmax", "LogSoftmax", "LogSigmoid", "Tanh")
