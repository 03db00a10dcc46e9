"""One run of the paper's training scheme, from the description of its code: the yardstick of bench/speed.py.

    python bench/published.py [--epochs 35] [--attributes sex race]

It is meant to cost what that scheme costs. Rows come one by one from a DataLoader. Each batch takes k + 1 forward and
k + 1 backward passes, each with a dropout mask of its own: one for each objective's gradient, which goes through numpy,
and one for the step. Two objectives are weighed in closed form, more by one step of Frank–Wolfe. After each epoch the
model is measured on validation rows and archived unless another one beats it.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import partial

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy, mse_loss
from torch.utils.data import DataLoader, TensorDataset

from mamofair.datasets import load_adult, split

Loss = Callable[[Tensor, Tensor, Tensor], Tensor]
Archive = list[tuple[np.ndarray, dict[str, Tensor]]]


def network(n_features: int) -> nn.Module:
    """Return the paper's network, which ends in a probability."""
    hidden = [nn.Linear(n_features, 60), nn.ReLU(), nn.Dropout(0.2), nn.Linear(60, 25), nn.ReLU(), nn.Dropout(0.2)]
    model = nn.Sequential(*hidden, nn.Linear(25, 1), nn.Sigmoid(), nn.Flatten(0))
    for name, parameter in model.named_parameters():
        nn.init.normal_(parameter, std=0.02) if "weight" in name else nn.init.zeros_(parameter)
    return model


def accuracy(p: Tensor, y: Tensor, groups: Tensor) -> Tensor:
    return binary_cross_entropy(p, y)


def parity(p: Tensor, y: Tensor, groups: Tensor, attribute: int, scale: float = 3.0) -> Tensor:
    """Return |gap of positive rates|, relaxed, and a little squared error."""
    positive = torch.where(p > 0.5, (1 + torch.tanh(scale * (p - 0.5))) / 2, 0.0)
    group = groups[:, attribute] == 1
    return (positive[group].mean() - positive[~group].mean()).abs() + 0.1 * mse_loss(p, y)


def run(train: TensorDataset, valid: TensorDataset, attributes: int = 1, epochs: int = 35) -> Iterator[Archive]:
    """Train, and yield the archive after each epoch."""
    model = network(train.tensors[0].shape[1])
    losses = [accuracy, *(partial(parity, attribute=i) for i in range(attributes))]
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    batches = DataLoader(train, batch_size=512, shuffle=True)
    with torch.no_grad():
        start = np.mean([[float(loss(model(x), y, groups)) for loss in losses] for x, y, groups in batches], axis=0)
    archive: Archive = []
    for _ in range(epochs):
        model.train()
        for x, y, groups in batches:
            normalized = [loss(model(x), y, groups) / value for loss, value in zip(losses, start, strict=True)]
            weights = shortest(np.stack([gradient(model, loss) for loss in normalized]))
            optimizer.zero_grad()
            p = model(x)
            total = sum(w * loss(p, y, groups) / v for w, loss, v in zip(weights, losses, start, strict=True))
            total.backward()
            optimizer.step()
        archive = updated(archive, measure(model, valid, attributes), deepcopy(model.state_dict()))
        yield archive


def gradient(model: nn.Module, loss: Tensor) -> np.ndarray:
    model.zero_grad()
    loss.backward()
    return np.concatenate([parameter.grad.numpy().flatten() for parameter in model.parameters()])


def shortest(gradients: np.ndarray) -> np.ndarray:
    """Return weights: those of the shortest combination of two, or after one step of Frank–Wolfe from equal ones."""
    k = len(gradients)
    if k == 2:
        share = _share(*gradients)
        return np.array([share, 1 - share])
    weights = np.full(k, 1 / k)
    mean = weights @ gradients
    steepest = int((gradients @ mean).argmin())
    share = _share(mean, gradients[steepest])
    weights *= share
    weights[steepest] += 1 - share
    return weights


def _share(u: np.ndarray, v: np.ndarray) -> float:
    """Return the weight of u in the shortest point between u and v."""
    length = float((u - v) @ (u - v))
    return float(np.clip(v @ (v - u) / length, 0, 1)) if length else 0.5


@torch.no_grad()
def measure(model: nn.Module, rows: TensorDataset, attributes: int) -> np.ndarray:
    """Return error and exact gaps."""
    model.eval()
    parts = [(model(x) > 0.5, y == 1, groups == 1) for x, y, groups in DataLoader(rows, batch_size=512)]
    positive, y, groups = (torch.cat(part).numpy() for part in zip(*parts, strict=True))
    gaps = [abs(positive[group].mean() - positive[~group].mean()) for group in groups.T[:attributes]]
    return np.array([(positive != y).mean(), *gaps])


def updated(archive: Archive, values: np.ndarray, state: dict[str, Tensor]) -> Archive:
    if any((old <= values).all() for old, _ in archive):
        return archive
    return [(old, kept) for old, kept in archive if not (values <= old).all()] + [(values, state)]


def adult(seed: int = 0) -> tuple[TensorDataset, TensorDataset]:
    """Return training and validation rows of the paper's design, as they are: not scaled."""
    data = load_adult()
    tensors = [torch.as_tensor(array, dtype=torch.float32) for array in data.design()]
    train, valid, _ = split(data, seed)
    return TensorDataset(*(t[train] for t in tensors)), TensorDataset(*(t[valid] for t in tensors))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=35)
    parser.add_argument("--attributes", nargs="+", choices=["sex", "race"], default=["sex"])
    options = parser.parse_args()
    torch.set_num_threads(1)
    data, begin = adult(), time.process_time()
    *_, front = run(*data, len(options.attributes), options.epochs)
    print(
        f"{options.epochs} epochs: {time.process_time() - begin:.1f} s of CPU time; error and gaps on validation rows:"
    )
    for point, _ in sorted(front, key=lambda entry: entry[0][0]):
        print("  " + "  ".join(f"{value:.3f}" for value in point))
