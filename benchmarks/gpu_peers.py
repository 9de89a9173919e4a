"""One iteration of KL-NMF as others would write it: plain torch, Triton with atomics, and CuPy's sparse matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from textsignal.compute.kernels import Rows

EPSILON = 1e-16
#: Sentences at a time, so that what is gathered fits beside the rest.
PART = 10_000_000


def torch_iteration(rows: Rows, W: Any, HT: Any) -> Callable[[], None]:
    """Gather, and scatter by `index_add_`: plain torch operations."""
    import torch

    indptr, indices, data, W, HT = (torch.from_dlpack(values) for values in (*rows, W, HT))
    lengths = torch.diff(indptr)

    def iterate() -> None:
        mass, pull = HT.sum(dim=0), torch.zeros_like(HT)
        for start in range(0, len(W), PART):
            stop = min(len(W), start + PART)
            first, last = int(indptr[start]), int(indptr[stop])
            w, x, terms = W[start:stop], data[first:last], indices[first:last]
            row = torch.repeat_interleave(torch.arange(stop - start, device=W.device), lengths[start:stop])
            h = HT[terms]
            ratio = x / ((w[row] * h).sum(dim=1) + EPSILON)
            w *= torch.zeros_like(w).index_add_(0, row, ratio[:, None] * h) / mass.clamp_min(1e-30)
            ratio = x / ((w[row] * h).sum(dim=1) + EPSILON)
            pull.index_add_(0, terms, ratio[:, None] * w[row])
        HT.mul_(pull / (W.sum(dim=0) + EPSILON))

    return iterate


def cupy_iteration(rows: Rows, W: Any, HT: Any) -> Callable[[], None]:
    """CuPy's sparse matrices for the two products, gathers for the reconstruction."""
    import cupy as cp
    from cupyx.scipy import sparse

    def iterate() -> None:
        mass, pull = HT.sum(axis=0), cp.zeros_like(HT)
        for start in range(0, len(W), PART):
            stop = min(len(W), start + PART)
            ends = rows.indptr[start : stop + 1]
            first, last = int(ends[0]), int(ends[-1])
            w, x, terms = W[start:stop], rows.data[first:last], rows.indices[first:last]
            row = cp.searchsorted(ends[1:] - first, cp.arange(last - first), side="right")
            pointers, shape = (ends - first).astype(np.int32), (stop - start, len(HT))

            def ratios(w: Any, x: Any = x, terms: Any = terms, row: Any = row, rest: Any = (pointers, shape)) -> Any:
                values = x / ((w[row] * HT[terms]).sum(axis=1) + np.float32(EPSILON))
                return sparse.csr_matrix((values, terms, rest[0]), shape=rest[1])

            w *= (ratios(w) @ HT) / cp.maximum(mass, 1e-30)
            pull += ratios(w).T.tocsr() @ w
        HT[:] *= pull / (W.sum(axis=0) + EPSILON)

    return iterate


def triton_iteration(rows: Rows, W: Any, HT: Any) -> Callable[[], None]:
    """One Triton program for some sentences, sums by atomics in the card's memory."""
    import gpu_triton
    import torch

    tensors = [torch.from_dlpack(values) for values in (*rows, W, HT)]
    return lambda: gpu_triton.iterate(*tensors)
