"""The loops of the compiled kernels: only nonzeros, whole vectors of topics, one document at a time.

Formulas stand in `reference`. All loops stand in this file, since numba keeps compiled code until its own file changes,
whatever becomes of the functions it calls.

Arrays are C-contiguous; `groups` is a tuple as long as there are vectors in a row of topics.
"""

from __future__ import annotations

import numpy as np

from textsignal.compute.compiling import compiling
from textsignal.compute.kernels.lanes import (
    add,
    divide_by_root,
    divide_if_positive,
    larger,
    largest_of,
    load,
    multiply,
    multiply_add,
    nothing,
    splat,
    store,
    total,
    width,
)
from textsignal.compute.kernels.reference import (
    FIRST_STEPS,
    KEEP_GRADIENT,
    KEEP_SQUARE,
    MOST_OF_THE_WAY,
    SMALLEST,
    TINY,
)

compile_loop = compiling()
# Sums of numbers may be added lane by lane: another order, but always the same one.
compile_sum = compiling(fastmath={"reassoc", "contract"})
compile_inline = compiling(inline="always")


@compile_inline
def reconstruct(W, w, HT, h, groups):  # type: ignore[no-untyped-def]
    """W.flat[w:] . HT.flat[h:] over all topics."""
    dot = nothing(HT)
    for group in range(len(groups)):
        k = group * width(HT)
        dot = multiply_add(load(W, w + k), load(HT, h + k), dot)
    return total(dot)


@compile_inline
def add_scaled(ratio, source, s, target, t, groups):  # type: ignore[no-untyped-def]
    """target.flat[t:] += ratio * source.flat[s:] over all topics."""
    scale = splat(ratio)
    for group in range(len(groups)):
        k = group * width(source)
        store(target, t + k, multiply_add(scale, load(source, s + k), load(target, t + k)))


@compile_inline
def document_pull(X, i, W, HT, epsilon, groups, pull, out):  # type: ignore[no-untyped-def]
    """pull.flat[out:] = sum_j x_j / (wH)_j H_j for document i.

    Four nonzeros at a time, so that the next ones need not wait for the sum of the last.
    """
    n_topics = len(groups) * width(HT)
    w = i * n_topics
    for group in range(len(groups)):
        store(pull, out + group * width(HT), nothing(HT))
    start, stop = X.indptr[i], X.indptr[i + 1]
    fours = start + (stop - start) // 4 * 4
    for p in range(start, fours, 4):
        a, b = X.indices[p] * n_topics, X.indices[p + 1] * n_topics
        c, d = X.indices[p + 2] * n_topics, X.indices[p + 3] * n_topics
        ra = splat(X.data[p] / (reconstruct(W, w, HT, a, groups) + epsilon))
        rb = splat(X.data[p + 1] / (reconstruct(W, w, HT, b, groups) + epsilon))
        rc = splat(X.data[p + 2] / (reconstruct(W, w, HT, c, groups) + epsilon))
        rd = splat(X.data[p + 3] / (reconstruct(W, w, HT, d, groups) + epsilon))
        for group in range(len(groups)):
            k = group * width(HT)
            first = multiply_add(ra, load(HT, a + k), multiply_add(rb, load(HT, b + k), load(pull, out + k)))
            second = multiply_add(rd, load(HT, d + k), first)
            store(pull, out + k, multiply_add(rc, load(HT, c + k), second))
    for p in range(fours, stop):
        h = X.indices[p] * n_topics
        ratio = X.data[p] / (reconstruct(W, w, HT, h, groups) + epsilon)
        add_scaled(ratio, HT, h, pull, out, groups)


@compile_loop
def pull_on_weights(X, W, HT, epsilon, groups, pull):  # type: ignore[no-untyped-def]
    """R H^T, into pull."""
    for i in range(W.shape[0]):
        document_pull(X, i, W, HT, epsilon, groups, pull, i * len(groups) * width(HT))


@compile_loop
def pull_on_topics(X, W, HT, weight, epsilon, groups, reconstruction, pull, mass):  # type: ignore[no-untyped-def]
    """d into reconstruction; R^T W with weights, added to pull; the weighted sum of W, added to mass."""
    n_topics = len(groups) * width(HT)
    for i in range(W.shape[0]):
        w = i * n_topics
        for p in range(X.indptr[i], X.indptr[i + 1]):
            h = X.indices[p] * n_topics
            d = reconstruct(W, w, HT, h, groups) + epsilon
            reconstruction[p] = d
            add_scaled(weight[i] * X.data[p] / d, W, w, pull, h, groups)
        for k in range(n_topics):
            mass[k] += weight[i] * W[i, k]


@compile_loop
def weighted_sum(X, weight, values):  # type: ignore[no-untyped-def]
    """sum_i weight_i sum_j x_ij values_ij."""
    result = 0.0
    for i in range(weight.size):
        start, stop = X.indptr[i], X.indptr[i + 1]
        whole = start + (stop - start) // width(values) * width(values)
        lanewise = nothing(values)
        for p in range(start, whole, width(values)):
            lanewise = multiply_add(load(X.data, p), load(values, p), lanewise)
        document = np.float64(total(lanewise))
        for p in range(whole, stop):
            document += X.data[p] * values[p]
        result += weight[i] * document
    return result


@compile_inline
def response_pull(slope, beta, i, k):  # type: ignore[no-untyped-def]
    """Derivative of the response loss of document i in its weight of topic k."""
    pull = slope[i, 0] * beta[k, 0]
    for p in range(1, beta.shape[1]):
        pull += slope[i, p] * beta[k, p]
    return pull


@compile_sum
def weight_step(W, pull, mass, slope, beta, gamma, moved, change):  # type: ignore[no-untyped-def]
    """Write the paper's step into `moved`, and a bound on each document's change of text loss into `change`."""
    for i in range(W.shape[0]):
        bound = 0.0
        for k in range(W.shape[1]):
            G = response_pull(slope, beta, i, k)
            upper = pull[i, k] + max(-G, 0.0) + gamma[i]
            lower = mass[k] + max(G, 0.0) + gamma[i]
            ratio = upper / lower if lower > 0 else 0.0
            w = W[i, k]
            moved[i, k] = w * ratio
            minus_log = (1 - ratio) / np.sqrt(ratio + TINY) if ratio < 1 else 2 * (1 - ratio) / (1 + ratio)
            bound += mass[k] * (w * ratio - w) + w * pull[i, k] * minus_log
        change[i] = bound


@compile_loop
def response_sums(W, gradient, curvature, groups, slopes, cross, squares):  # type: ignore[no-untyped-def]
    """slopes += W^T gradient, cross += W^T curvature, squares += W^T diag(curvature) W."""
    n_topics = len(groups) * width(W)
    for i in range(W.shape[0]):
        w = i * n_topics
        add_scaled(gradient[i], W, w, slopes, 0, groups)
        add_scaled(curvature[i], W, w, cross, 0, groups)
        for k in range(n_topics):
            add_scaled(curvature[i] * W[i, k], W, w, squares, k * n_topics, groups)


@compile_sum
def mass(HT):  # type: ignore[no-untyped-def]
    """(topics,) sums over terms."""
    mass = np.zeros(HT.shape[1], HT.dtype)
    for j in range(HT.shape[0]):
        for k in range(HT.shape[1]):
            mass[k] += HT[j, k]
    return mass


@compile_loop
def infer(X, HT, mass, W, settings, groups, pull, A, vectors, steps):  # type: ignore[no-untyped-def]
    """Each document's best weights, in place; the number of steps each took into steps."""
    smoothing, tol, max_iter, epsilon = settings
    for i in range(W.shape[0]):
        for step in range(max_iter):
            if smoothing > 0 and step >= FIRST_STEPS:
                gap = newton_step(X, i, HT, mass, W, smoothing, epsilon, groups, pull, A, vectors)
            else:
                gap = multiplicative_step(X, i, HT, mass, W, smoothing, epsilon, groups, pull)
            steps[i] = step + 1
            if step > 0 and gap < tol:
                break


@compile_loop
def multiplicative_step(X, i, HT, mass, W, smoothing, epsilon, groups, pull):  # type: ignore[no-untyped-def]
    """One step of document i, in place; the relative bound before it."""
    document_pull(X, i, W, HT, epsilon, groups, pull, 0)
    largest, added = nothing(W), splat(smoothing)
    for group in range(len(groups)):
        k = group * width(W)
        w, m = load(W, i * len(groups) * width(W) + k), load(mass, k)
        upper = add(multiply(w, load(pull, k)), added)
        # A topic without mass, or without weight, bounds nothing.
        largest = larger(largest, divide_if_positive(upper, multiply(w, m)))
        store(W, i * len(groups) * width(W) + k, divide_if_positive(upper, m))
    return np.float64(largest_of(largest)) - 1.0


@compile_loop
def newton_step(X, i, HT, mass, W, smoothing, epsilon, groups, pull, A, vectors):  # type: ignore[no-untyped-def]
    """One step of document i, in place; half the relative decrement before it."""
    gradient, direction = vectors[0], vectors[1]
    document_curvature(X, i, HT, mass, W, smoothing, epsilon, groups, pull, A)
    for k in range(W.shape[1]):
        gradient[k] = mass[k] - pull[0, k] - smoothing / W[i, k] if mass[k] > 0 else 0.0
    solve(A, gradient, direction)
    longest = 1.0
    decrement = size = change = 0.0
    for k in range(W.shape[1]):
        decrement += gradient[k] * direction[k]
        size += mass[k] * W[i, k]
        change += mass[k] * direction[k]
        if direction[k] > 0:
            longest = min(longest, MOST_OF_THE_WAY * W[i, k] / direction[k])
    for k in range(W.shape[1]):
        W[i, k] -= longest * direction[k]
    return decrement / 2 / (size - longest * change)


@compile_loop
def document_curvature(X, i, HT, mass, W, smoothing, epsilon, groups, pull, A):  # type: ignore[no-untyped-def]
    """A's lower triangle and the pull at document i's weights; topics without mass get a row of the unit matrix."""
    n_topics = len(groups) * width(HT)
    w = i * n_topics
    pull[:] = 0.0
    A[:] = 0.0
    for p in range(X.indptr[i], X.indptr[i + 1]):
        j = X.indices[p]
        h = j * n_topics
        d = reconstruct(W, w, HT, h, groups) + epsilon
        ratio = X.data[p] / d
        add_scaled(ratio, HT, h, pull, 0, groups)
        for row_group in range(len(groups)):
            for k in range(row_group * width(HT), (row_group + 1) * width(HT)):
                scale = splat(ratio / d * HT[j, k])
                # The lower triangle is enough.
                for group in range(row_group + 1):
                    a = k * n_topics + group * width(HT)
                    store(A, a, multiply_add(scale, load(HT, h + group * width(HT)), load(A, a)))
    for k in range(n_topics):
        A[k, k] += smoothing / (W[i, k] * W[i, k]) if mass[k] > 0 else 1.0


@compile_sum
def solve(A, b, x):  # type: ignore[no-untyped-def]
    """Solve A x = b for a positive definite A, whose lower triangle becomes its Cholesky factor."""
    n = b.size
    for i in range(n):
        for j in range(i + 1):
            rest = A[i, j]
            for k in range(j):
                rest -= A[i, k] * A[j, k]
            A[i, j] = np.sqrt(rest) if i == j else rest / A[j, j]
    for i in range(n):
        rest = b[i]
        for k in range(i):
            rest -= A[i, k] * x[k]
        x[i] = rest / A[i, i]
    for i in range(n - 1, -1, -1):
        rest = x[i]
        for k in range(i + 1, n):
            rest -= A[k, i] * x[k]
        x[i] = rest / A[i, i]


@compile_loop
def implicit_sums(X, HT, mass, W, slope, beta, weight, settings, groups, pull, A, vectors, gradient):  # type: ignore[no-untyped-def]
    """Gradient in the topics where weights follow them, added to gradient."""
    smoothing, epsilon = settings
    n_topics = len(groups) * width(HT)
    right, u = vectors[0], vectors[1]
    for i in range(W.shape[0]):
        document_curvature(X, i, HT, mass, W, smoothing, epsilon, groups, pull, A)
        for k in range(n_topics):
            right[k] = response_pull(slope, beta, i, k)
        solve(A, right, u)
        for k in range(n_topics):
            right[k] = u[k] - weight[i] * W[i, k]
        for p in range(X.indptr[i], X.indptr[i + 1]):
            h = X.indices[p] * n_topics
            d = reconstruct(W, i * n_topics, HT, h, groups) + epsilon
            ratio = X.data[p] / d
            through = ratio / d * reconstruct(vectors, n_topics, HT, h, groups)
            add_scaled(ratio, vectors, 0, gradient, h, groups)
            add_scaled(-through, W, i * n_topics, gradient, h, groups)


@compile_loop
def shares(logits, exponentials, HT):  # type: ignore[no-untyped-def]
    """Compute the softmax over terms from exponentials of the logits; logits become its logarithm."""
    n_terms, n_topics = logits.shape
    sums = np.zeros(n_topics)
    for j in range(n_terms):
        for k in range(n_topics):
            sums[k] += exponentials[j, k]
    inverse, logarithm = 1 / sums, np.log(sums)
    for j in range(n_terms):
        for k in range(n_topics):
            HT[j, k] = exponentials[j, k] * inverse[k]
            logits[j, k] -= logarithm[k]


@compile_loop
def share_gradient(pull, HT, profile, prior, n_documents, inner, out):  # type: ignore[no-untyped-def]
    """Gradient in the logits, into out; inner is a row of zeros to work in."""
    n_terms, n_topics = out.shape
    for j in range(n_terms):
        for k in range(n_topics):
            inner[k] += HT[j, k] * pull[j, k]
    for j in range(n_terms):
        for k in range(n_topics):
            share = HT[j, k]
            out[j, k] = share * (pull[j, k] - inner[k]) / n_documents - prior * (profile[j] - share)


@compile_loop
def adam_step(parameters, gradient, means, rate, root):  # type: ignore[no-untyped-def]
    """Adam's step with its two corrections given: of the rate and of the square root."""
    mean, square = means
    for p in range(parameters.size):
        slope = gradient[p]
        mean[p] = KEEP_GRADIENT * mean[p] + (1 - KEEP_GRADIENT) * slope
        square[p] = KEEP_SQUARE * square[p] + (1 - KEEP_SQUARE) * slope * slope
        parameters[p] -= rate * mean[p] / (np.sqrt(square[p]) * root + SMALLEST)


@compile_loop
def predictors(X, effects, groups, out):  # type: ignore[no-untyped-def]
    """constant + X effects, into out; the constant is the last row of effects."""
    n_fits = len(groups) * width(effects)
    constant = (effects.shape[0] - 1) * n_fits
    for i in range(out.shape[0]):
        for group in range(len(groups)):
            k = group * width(effects)
            eta = load(effects, constant + k)
            for p in range(X.indptr[i], X.indptr[i + 1]):
                eta = multiply_add(splat(X.data[p]), load(effects, X.indices[p] * n_fits + k), eta)
            store(out, i * n_fits + k, eta)


@compile_inline
def adagrad(slope, effects, squares, at, rate):  # type: ignore[no-untyped-def]
    """Adagrad's step of one vector of effects."""
    square = multiply_add(slope, slope, load(squares, at))
    store(squares, at, square)
    store(effects, at, multiply_add(splat(-rate), divide_by_root(slope, square), load(effects, at)))


@compile_loop
def adagrad_step(X, slopes, effects, squares, rate, groups):  # type: ignore[no-untyped-def]
    """Adagrad's steps of the effects of each document's features and of the constant, document by document."""
    n_fits = len(groups) * width(effects)
    constant = (effects.shape[0] - 1) * n_fits
    for i in range(slopes.shape[0]):
        for group in range(len(groups)):
            k = group * width(effects)
            slope = load(slopes, i * n_fits + k)
            for p in range(X.indptr[i], X.indptr[i + 1]):
                adagrad(multiply(slope, splat(X.data[p])), effects, squares, X.indices[p] * n_fits + k, rate)
            adagrad(slope, effects, squares, constant + k, rate)
