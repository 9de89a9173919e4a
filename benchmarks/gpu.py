"""Themes and tone on a graphics card: one iteration beside the memory's bandwidth and other ways, then all of the work.

    make bench-gpu            (or: python benchmarks/gpu.py --documents 10000000)

Reviews are made on the card. Times are medians of several runs between events on the card; peers run in the same run.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
from collections.abc import Callable
from typing import Any

import gpu_peers
import numpy as np
import scipy.sparse as sp
from gpu_made import N_FEATURES, N_PADDED, N_TERMS, N_THEMES, Reviews, make_reviews
from gpu_reading import MAX_ITER, TOL, Placed, document_keys, fit_tone, infer_themes, place, sentence_tone
from scipy.optimize import linear_sum_assignment

from textsignal.compute.engines.local import local_compute
from textsignal.compute.gpu import cupy
from textsignal.compute.gpu import kernels as gpu
from textsignal.compute.gpu import themes as gpu_themes
from textsignal.compute.gpu import tone as gpu_tone
from textsignal.compute.kernels import Rows, reference
from textsignal.families import Binomial
from textsignal.training import tone
from textsignal.training.inference import unit_rows

#: As in `training.tone` for so many documents, and in `training.themes`.
PASSES, DRAW, STEP, ITERATIONS = 5, 25, 0.18, 3
#: Documents that are compared with the processor's: themes with NumPy, tone with the compiled kernels.
SMALL, SMALL_TONE = 4_000, 100_000


def seconds(work: Callable[[], object], runs: int) -> float:
    """Median time of `work` on the card."""
    cp, times = cupy(), []
    work()
    for _ in range(runs):
        start, stop = cp.cuda.Event(), cp.cuda.Event()
        start.record()
        work()
        stop.record()
        stop.synchronize()
        times.append(cp.cuda.get_elapsed_time(start, stop) / 1e3)
    return float(np.median(times))


def bandwidth() -> float:
    """Bytes a second that a copy on the card reads and writes."""
    cp = cupy()
    source = cp.random.default_rng(0).random(1 << 30, dtype=np.float32)
    target = cp.empty_like(source)
    return 2 * source.nbytes / seconds(lambda: cp.copyto(target, source), 10)


def start_topics(reviews: Reviews) -> Any:
    """(terms, padded topics) mostly the profile of all text, and noise: a start that knows little."""
    rng, cp = np.random.default_rng(3), cupy()
    blurred = 0.2 * reviews.topics + 0.8 * reviews.topics.mean(axis=0)
    HT = np.zeros((N_TERMS, N_PADDED), np.float32)
    HT[:, :N_THEMES] = (blurred * rng.lognormal(0, 0.3, blurred.shape)).T
    return cp.asarray(HT / np.maximum(HT.sum(axis=0), 1e-30))


def cosines(HT: Any, topics: np.ndarray) -> np.ndarray:
    """Cosines of themes that were found with the planted ones, matched."""
    found = cupy().asnumpy(HT)[:, :N_THEMES].T
    found = found / np.linalg.norm(found, axis=1, keepdims=True)
    planted = topics / np.linalg.norm(topics, axis=1, keepdims=True)
    like = planted @ found.T
    return like[linear_sum_assignment(-like)]


def iteration(reviews: Reviews, peers: bool) -> None:
    """(a) One iteration of KL-NMF."""
    cp, rate, rows = cupy(), bandwidth(), reviews.units
    sentences, HT = gpu_themes.CardSentences.of(rows, N_TERMS), start_topics(reviews)
    W = gpu_themes.first_weights(rows, HT)
    text = rows.indptr.nbytes + rows.indices.nbytes + rows.data.nbytes
    least = text + 2 * W.nbytes
    size = f"{len(W):,} sentences, {len(rows.data):,} nonzeros, {N_TERMS:,} terms, {N_PADDED} topics"
    print(f"\n(a) one KL iteration, {size}")
    print(f"copy {rate / 1e12:.2f} TB/s; least {least / 1e9:.2f} GB: text {text / 1e9:.2f}, weights read and written")
    print(f"{'':38}{'ms':>9}{'TB/s':>8}{'of copy':>9}")

    def report(name: str, time: float) -> None:
        print(f"{name:38}{1e3 * time:9.2f}{least / time / 1e12:8.2f}{least / time / rate:9.0%}", flush=True)

    report("ours, both steps in one pass", seconds(lambda: gpu_themes.theme_step(sentences, W, HT), 20))
    report("ours, with the loss", seconds(lambda: gpu_themes.theme_step(sentences, W, HT, loss=True), 20))
    if not peers:
        return
    others = {"CuPy's sparse matrices": gpu_peers.cupy_iteration}
    if importlib.util.find_spec("torch"):
        others["torch, gather and index_add"] = gpu_peers.torch_iteration
        others["Triton, atomics"] = gpu_peers.triton_iteration
    for name, other in others.items():
        try:
            report(name, seconds(other(rows, W.copy(), HT.copy()), 3))
        except Exception as error:  # A peer that cannot do it is told, not hidden.
            print(f"{name:38}{type(error).__name__}: {str(error)[:200]}")
        cp.get_default_memory_pool().free_all_blocks()


def everything(n: int) -> None:
    """(b) Themes, tone, places and the GLM on themes, from made reviews on the card."""
    cp = cupy()
    reviews = make_reviews(n)
    cp.cuda.Device().synchronize()
    pool = cp.get_default_memory_pool()
    pool.free_all_blocks()
    nonzeros = len(reviews.features.data)
    print(
        f"\n(b) {n:,} documents, {len(reviews.documents):,} sentences, {nonzeros:,} nonzeros of {N_FEATURES:,} features"
    )
    print(f"on the card: {pool.used_bytes() / 2**30:.1f} GiB")
    times: dict[str, float] = {}

    def timed(name: str, work: Callable[[], Any]) -> Any:
        cp.cuda.Device().synchronize()
        before = time.perf_counter()
        result = work()
        cp.cuda.Device().synchronize()
        times[name] = time.perf_counter() - before
        print(f"{name:42}{times[name]:9.3f} s", flush=True)
        return result

    start = start_topics(reviews)
    sentences = timed("sentences placed", lambda: gpu_themes.CardSentences.of(reviews.units, N_TERMS))
    themes = timed(f"themes, {ITERATIONS} iterations", lambda: gpu_themes.learn_themes(sentences, start, ITERATIONS))
    HT, prevalence = themes.HT, themes.prevalence
    W = timed("weights of all sentences", lambda: infer_themes(reviews.units, HT))
    effects, folds = timed("tone, six fits", lambda: tone_of(reviews))
    unseen = timed("tone of sentences", lambda: sentence_tone(reviews.words, reviews.documents, effects, folds))
    given = reviews.ends, reviews.n_words, unseen, prevalence
    placed = timed("places, and sums by document", lambda: place(W, *given))
    coefficients = timed("GLM on themes, 6 Newton steps", lambda: glm(placed, prevalence, reviews.y))
    print(f"{'all':42}{sum(times.values()):9.3f} s;  peak {pool.total_bytes() / 2**30:.1f} GiB")

    alone = effects[-1][folds] + placed.tone.sum(axis=1)
    on_themes = columns(placed, prevalence) @ coefficients[:-1] + coefficients[-1]
    skill = {"most possible": reviews.eta, "tone alone, out of fold": alone, "GLM on themes": on_themes}
    print("R2 of stars: " + ";  ".join(f"{name} {r2(reviews.y, eta):.4f}" for name, eta in skill.items()))
    print(f"r of planted and found linear predictor: {float(cp.corrcoef(reviews.eta, alone)[0, 1]):.4f}")
    before, after = cosines(start, reviews.topics), cosines(HT, reviews.topics)
    print(f"cosine with planted themes, mean (least): {before.mean():.3f} ({before.min():.3f}) at the start, "
          f"{after.mean():.3f} ({after.min():.3f}) found")  # fmt: skip


def tone_of(reviews: Reviews) -> tuple[Any, Any]:
    """Effects of all fits, and the fold of each document; the scale of steps is that of `training.tone`."""
    cp, y = cupy(), reviews.y
    keys = document_keys(reviews.features)
    folds = (gpu_tone.drawn(keys, gpu_tone.FOLDS) % np.uint64(gpu_tone.FOLDS)).astype(np.int32)
    visits = gpu_tone.Visits(gpu_tone.drawn(keys, DRAW, 0))
    chance = float(y.mean(dtype=np.float64)) / 4
    slope = float(cp.sqrt(cp.mean((4 * chance - y) ** 2, dtype=np.float64)))
    rate = STEP * slope / (4 * chance * (1 - chance))
    steps, constant = gpu_tone.Steps(DRAW, rate, slope), float(np.log(chance / (1 - chance)))
    documents = gpu_tone.CardTexts(reviews.features, y[:, None], folds, visits)
    slopes = gpu_tone.LOGISTIC.format(steps=4.0)
    return fit_tone(documents, N_FEATURES, steps, slopes, constant, PASSES), folds


def columns(placed: Placed, prevalence: Any) -> Any:
    """(documents, 2 themes) of the GLM: tone about each theme, and its share beyond the prevalence."""
    cp = cupy()
    return cp.concatenate([placed.tone[:, :N_THEMES], (placed.shares - prevalence)[:, :N_THEMES]], axis=1)


def glm(placed: Placed, prevalence: Any, y: Any, newton: int = 6) -> Any:
    """Coefficients of the binomial GLM on themes, the constant last."""
    cp, Z = cupy(), columns(placed, prevalence)
    coefficients = cp.zeros(Z.shape[1] + 1)
    ridge = cp.eye(len(coefficients)) * 1e-3
    for _ in range(newton):
        chance = 1 / (1 + cp.exp(-(Z @ coefficients[:-1] + coefficients[-1])))
        first, second = gpu.response_sums(Z, 4 * chance - y, 4 * chance * (1 - chance))
        coefficients -= cp.linalg.solve(second + ridge, first + ridge @ coefficients)
    return coefficients


def r2(y: Any, eta: Any) -> float:
    left = y - 4 / (1 + cupy().exp(-eta.astype(np.float64)))
    return 1 - float((left**2).sum() / ((y - y.mean(dtype=np.float64)) ** 2).sum())


def correctness() -> None:
    """(c) A small part beside the NumPy kernels."""
    cp, reviews = cupy(), make_reviews(SMALL, seed=7)
    rows = Rows(*(values.get() for values in reviews.units))
    HT, sentences = start_topics(reviews), gpu_themes.CardSentences.of(reviews.units, N_TERMS)
    W = gpu_themes.first_weights(reviews.units, HT)
    before, topics = W.get().astype(float), HT.get().astype(float)
    order = sentences.order.get()
    W = W[sentences.order]
    sums = gpu_themes.theme_step(sentences, W, HT, loss=True)
    mass = topics.sum(axis=0)
    moved = before * reference.pull_on_weights(rows, before, topics) / np.where(mass > 0, mass, 1)
    theirs = reference.text_sums(rows, moved, topics, np.ones(len(moved)))
    matrix = sp.csr_array((rows.data, rows.indices, rows.indptr), shape=(rows.n_documents, N_TERMS))
    few = Rows.of(matrix, 0, 500)
    inferred = infer_themes(Rows(*(cp.asarray(values) for values in few)), HT)
    expected = gpu_themes.first_weights(Rows(*(cp.asarray(values) for values in few)), HT).get().astype(float)
    reference.infer(few, topics, expected, 0.0, TOL, MAX_ITER)
    again = [gpu_themes.learn_themes(sentences, HT, 2).HT for _ in range(2)]
    effects = [tone_of(reviews)[0] for _ in range(2)]
    glm(Placed(cp.ones((10, N_PADDED)), cp.ones((10, N_PADDED))), 0.0, cp.ones(10))  # loads cuBLAS
    print(f"\n(c) {SMALL:,} documents: relative distance from NumPy in double precision")
    pairs = {
        "weights": (W, moved[order]),
        "topics": (sums.products, topics * theirs.pull),
        "mass": (sums.mass, theirs.mass),
        "inferred weights": (inferred, expected),
    }
    for name, (ours, right) in pairs.items():
        print(f"  {name:20}{np.linalg.norm(ours.get() - right) / np.linalg.norm(right):.1e}")
    print(f"  {'text loss':20}{abs(sums.log_loss / theirs.log_loss - 1):.1e}")
    same = bool((again[0] == again[1]).all()), bool((effects[0] == effects[1]).all())
    print(f"  the same bits twice: themes {same[0]}, tone {same[1]}")


def compare_tone() -> None:
    """(c) Tone of more documents beside that of the compiled kernels, which takes batches of 100."""
    reviews = make_reviews(SMALL_TONE, seed=8)
    roots, y = Rows(*(values.get() for values in reviews.features)), reviews.y.get().astype(float)
    matrix = sp.csr_array((roots.data.astype(float), roots.indices, roots.indptr), shape=(len(y), N_FEATURES))
    before = time.perf_counter()
    with local_compute(1) as compute:
        theirs = tone.fit_tone(matrix.power(2), np.ones(N_FEATURES), y, np.ones(len(y)), Binomial(4, 0), compute)
    took = time.perf_counter() - before
    values = unit_rows(matrix)
    documents = np.repeat(np.arange(len(y)), np.diff(values.indptr))
    of_each = values.data * theirs.fold_effects[theirs.folds[documents], values.indices]
    on_processor = np.bincount(documents, of_each, len(y))
    effects, folds = tone_of(reviews)
    read = sentence_tone(reviews.words, reviews.documents, effects, folds)
    on_card = np.bincount(reviews.documents.get(), read.get(), len(y))
    like = np.corrcoef([on_processor, on_card, reviews.eta.get()])
    print(f"  tone of {len(y):,} documents, out of fold: the same folds {bool((theirs.folds == folds.get()).all())};")
    print(f"  r with the planted one {like[0, 2]:.4f} by the compiled kernels in {took:.1f} s on one core, ", end="")
    print(f"{like[1, 2]:.4f} on the card; with each other {like[0, 1]:.4f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=10_000_000)
    parser.add_argument("--no-peers", action="store_true", help="leave out other ways to write the iteration")
    given = parser.parse_args()
    cp = cupy()
    name = cp.cuda.runtime.getDeviceProperties(0)["name"].decode()
    print(f"{name}, CuPy {cp.__version__}, CUDA {cp.cuda.runtime.runtimeGetVersion()}")
    correctness()
    compare_tone()
    cp.get_default_memory_pool().free_all_blocks()
    everything(given.documents)
    cp.get_default_memory_pool().free_all_blocks()
    iteration(make_reviews(given.documents), not given.no_peers)


if __name__ == "__main__":
    main()
