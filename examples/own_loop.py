"""Your own module, optimizer and training loop
============================================
"""

import torch
from torch.nn import Flatten, Linear, Module, Sequential, SiLU

from mamofair.datasets import load_adult, split
from mamofair.descent import MinNorm, assign_grad, initial_scales, pullback
from mamofair.fronts import Archive, Counter, Front, Point
from mamofair.notions import DEMOGRAPHIC_PARITY
from mamofair.objectives import Batch, CrossEntropy, Gap, evaluate, read_groups


def train(network: Module, epochs: int = 10) -> Front:
    adult = load_adult()
    (X, y, _), groups, (rows, valid, _) = adult.design(), read_groups(adult.sensitive), split(adult, seed=0)
    X = torch.as_tensor((X - X[rows].mean(0)) / X.std(0).clip(0.1), dtype=torch.float32)
    people, count = Batch.of(X[rows], y[rows], groups[rows].memberships(y[rows])), Counter.of(y[valid], groups[valid])
    criteria = [(DEMOGRAPHIC_PARITY, attribute) for attribute in ("sex", "race")]
    objectives = [CrossEntropy(), *(Gap(notion, attribute, anchor=0.1) for notion, attribute in criteria)]
    optimizer, archive = torch.optim.AdamW(parameters := list(network.parameters()), lr=0.005), Archive(criteria)
    scales = initial_scales(evaluate(objectives, network(people.x), people)[0])
    for step, index in enumerate(part for _ in range(epochs) for part in torch.randperm(len(people)).split(512)):
        logits = network((batch := people[index]).x)
        _, cotangents = evaluate(objectives, logits, batch)  # derivatives of the objectives w.r.t. the logits
        J = pullback(logits, cotangents / scales[:, None], parameters)  # and w.r.t. the parameters: one backward pass
        assign_grad(parameters, MinNorm()(J @ J.T) @ J)  # a direction that hurts no objective, to first order
        optimizer.step()
        if step % 5 == 4:  # exact counts of decisions on held-back rows
            [tally] = count((network(X[valid]) > 0).numpy()[None])
            archive.add_all([Point(tally, step=step, state={k: v.clone() for k, v in network.state_dict().items()})])
    return archive.front()


if __name__ == "__main__":
    torch.set_num_threads(1)  # more threads only slow a small network down
    print(train(Sequential(Linear(49, 64), SiLU(), Linear(64, 1), Flatten(0))).frame())
