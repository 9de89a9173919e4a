"""One iteration of KL-NMF in Triton, to compare with: a program steps some sentences and adds by atomics."""

from typing import Any

import torch
import triton
import triton.language as tl

ROWS = 64


@triton.jit
def step(indptr, indices, data, W, HT, per_mass, pull, n, ROWS: tl.constexpr, K: tl.constexpr):  # type: ignore[no-untyped-def]
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    there = row < n
    k = tl.arange(0, K)
    start = tl.load(indptr + row, there, 0)
    length = tl.load(indptr + row + 1, there, 0) - start
    w = tl.load(W + row[:, None] * K + k[None, :], there[:, None], 0.0)
    turns = tl.max(length, 0)
    towards = tl.zeros((ROWS, K), tl.float32)
    for turn in range(turns):
        here = turn < length
        term = tl.load(indices + start + turn, here, 0)
        x = tl.load(data + start + turn, here, 0.0)
        h = tl.load(HT + term[:, None] * K + k[None, :], here[:, None], 0.0)
        towards += (x / (tl.sum(w * h, 1) + 1e-16))[:, None] * h
    w = w * towards * tl.load(per_mass + k)[None, :]
    tl.store(W + row[:, None] * K + k[None, :], w, there[:, None])
    for turn in range(turns):
        here = turn < length
        term = tl.load(indices + start + turn, here, 0)
        x = tl.load(data + start + turn, here, 0.0)
        h = tl.load(HT + term[:, None] * K + k[None, :], here[:, None], 0.0)
        ratio = x / (tl.sum(w * h, 1) + 1e-16)
        tl.atomic_add(pull + term[:, None] * K + k[None, :], ratio[:, None] * w, here[:, None], sem="relaxed")


def iterate(indptr: Any, indices: Any, data: Any, W: Any, HT: Any) -> None:
    n, n_topics = W.shape
    mass, pull = HT.sum(dim=0), torch.zeros_like(HT)
    per_mass = torch.where(mass > 0, 1 / mass.clamp_min(1e-30), 0)
    step[(triton.cdiv(n, ROWS),)](indptr, indices, data, W, HT, per_mass, pull, n, ROWS=ROWS, K=n_topics)
    HT.mul_(pull / (W.sum(dim=0) + 1e-16))
