// Themes of sentences that all lie on the card, in single precision. What is not defined here stands in gpu_documents.cu.

// Rows of the table in shared memory are longer by one, so that terms lie in different banks.
#define STRIDE (TOPICS + 1)
// Added to a number below 2^22, this leaves it rounded to a whole one in the last bits.
#define ROUNDER 12582912.0f

// A sentence, of which a quad holds four nonzeros at a time, one in each lane; `nothing` is a term without topics.
struct Sentence {
    int start, length, term;
    real x;
};

__device__ __forceinline__ void find(Sentence& one, const int64* ends, int64 origin, int64 i, int64 end) {
    one.start = i < end ? (int)(ends[i] - origin) : 0;
    one.length = i < end ? (int)(ends[i + 1] - origin) - one.start : 0;
}

__device__ __forceinline__ void read(Sentence& one, const int2* nonzeros, int turn, int lane, int nothing) {
    int2 nonzero = turn + lane < one.length ? __ldg(nonzeros + one.start + turn + lane) : make_int2(nothing, 0);
    one.term = nonzero.x;
    one.x = __int_as_float(nonzero.y);
}

// Topics of the quad's four terms: each lane its part of all of them.
__device__ __forceinline__ void gather(Part* h, const Sentence& one, const real* HT, int lane) {
#pragma unroll
    for (int b = 0; b < 4; ++b) h[b] = load(HT, __shfl_sync(ALL, one.term, b, 4), lane);
}

// w . h[lane]: four sums over the quad, each in the lane that it belongs to.
__device__ __forceinline__ real own_dot(const Part& w, const Part* h, int lane) {
    real sums[4];
#pragma unroll
    for (int b = 0; b < 4; ++b) {
        sums[b] = 0;
#pragma unroll
        for (int c = 0; c < PART; ++c) sums[b] += w.at[c] * h[b].at[c];
    }
#pragma unroll
    for (int half = 2; half; half >>= 1) {
        bool upper = lane & half;
#pragma unroll
        for (int b = 0; b < half; ++b) {
            real given = upper ? sums[b] : sums[b + half], kept = upper ? sums[b + half] : sums[b];
            sums[b] = kept + __shfl_xor_sync(ALL, given, half);
        }
    }
    return sums[0];
}

// Sentences of every chunk in the order of `order`, their nonzeros as pairs of term and value.
extern "C" __global__ void sort_sentences(const int64* order, const int64* indptr, const int* indices, const real* data,
                                          int64 n, const int64* ends, int2* nonzeros) {
    int64 i = own_document();
    if (i >= n) return;
    int64 from = indptr[order[i]], to = ends[i];
    for (int p = threadIdx.x & 3, length = (int)(ends[i + 1] - to); p < length; p += 4)
        nonzeros[to + p] = make_int2(indices[from + p], __float_as_int(data[from + p]));
}

// One iteration of KL-NMF in one pass: the step of the weights, W <- W * pull / mass (left out where `moving` is 0), and
// at the new weights the sums that the step of the topics needs. HT has a row of zeros behind the n_terms.
//
//     sums_jk = unit sum_i weight_i x_ij w_ik H_kj / d_ij,        mass_k = sum_i weight_i w_ik
//
// Sums are whole numbers of 1 / unit: these add up to the same in any order, and so do atomics. A block adds a chunk of
// sentences to a table of `count` terms from `first` on in its shared memory, then the table to `sums`; unit is such that
// no sum of a chunk overflows. While a sentence is worked on, the next is on its way from memory.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
    theme_step(const int64* ends, const int2* nonzeros, const real* weight, int64 n, int chunk, int n_chunks,
               const real* HT, int n_terms, const real* per_mass, real unit, int first, int count, int moving, real* W,
               unsigned long long* sums, real* masses, double* losses) {
    extern __shared__ unsigned table[];
    __shared__ real mass_of_warp[THREADS / 32][TOPICS];
    __shared__ double loss_of_warp[THREADS / 32];
    const int quads = THREADS / 4, quad = threadIdx.x >> 2, lane = threadIdx.x & 3, warp = threadIdx.x >> 5;
    for (int a = threadIdx.x; a < count * STRIDE; a += THREADS) table[a] = 0;
    for (int at = blockIdx.x; at < n_chunks; at += gridDim.x) {
        const int64 begin = (int64)at * chunk, end = min(n, begin + chunk), origin = ends[begin];
        const int2* text = nonzeros + origin;
        Part h[4], mass = none(), w = begin + quad < end ? load(W, begin + quad, lane) : none();
        double loss = 0;
        Sentence one, next;
        find(one, ends, origin, begin + quad, end);
        find(next, ends, origin, begin + quads + quad, end);
        read(one, text, 0, lane, n_terms);
        __syncthreads();
        for (int64 i = begin + quad; i - quad < end; i += quads) {
            Sentence after;
            find(after, ends, origin, i + 2 * quads, end);
            read(next, text, 0, lane, n_terms);
            const Part w_next = i + quads < end ? load(W, i + quads, lane) : none();
            const real often = i >= end ? (real)0 : weight ? weight[i] : (real)1;
            const int turns = __reduce_max_sync(ALL, one.length);
            if (moving) {
                Part pull = none();
                for (int turn = 0; turn < turns; turn += 4) {
                    if (turn) read(one, text, turn, lane, n_terms);
                    gather(h, one, HT, lane);
                    real ratio = __fdividef(one.x, own_dot(w, h, lane) + EPSILON);
#pragma unroll
                    for (int b = 0; b < 4; ++b) add_scaled(pull, __shfl_sync(ALL, ratio, b, 4), h[b]);
                }
                const Part inverse = load(per_mass, 0, lane);
#pragma unroll
                for (int c = 0; c < PART; ++c) w.at[c] *= pull.at[c] * inverse.at[c];
                if (i < end) store(W, i, lane, w);
            }
            add_scaled(mass, often, w);
            for (int turn = 0; turn < turns; turn += 4) {
                // Most sentences have no more than four terms, and their topics are read once.
                if (turns > 4) read(one, text, turn, lane, n_terms);
                if (!moving || turns > 4) gather(h, one, HT, lane);
                const real d = own_dot(w, h, lane) + EPSILON, x = often * one.x, own = __fdividef(x, d) * unit;
                if (losses) loss += x * logf(d);
#pragma unroll
                for (int b = 0; b < 4; ++b) {
                    const real scale = __shfl_sync(ALL, own, b, 4);
                    const int term = __shfl_sync(ALL, one.term, b, 4) - first;
                    if ((unsigned)term >= (unsigned)count) continue;
                    unsigned* sum = table + term * STRIDE + lane * PART;
#pragma unroll
                    for (int c = 0; c < PART; ++c) {
                        float rounded = fmaf(scale, w.at[c] * h[b].at[c], ROUNDER);
                        atomicAdd(sum + c, __float_as_uint(rounded) - __float_as_uint(ROUNDER));
                    }
                }
            }
            one = next;
            next = after;
            w = w_next;
        }
#pragma unroll
        for (int c = 0; c < PART; ++c) {
            for (int far = 16; far > 2; far >>= 1) mass.at[c] += __shfl_xor_sync(ALL, mass.at[c], far);
            if ((threadIdx.x & 31) < 4) mass_of_warp[warp][lane * PART + c] = mass.at[c];
        }
        for (int far = 16; far; far >>= 1) loss += __shfl_xor_sync(ALL, loss, far);
        if ((threadIdx.x & 31) == 0) loss_of_warp[warp] = loss;
        __syncthreads();
        for (int a = threadIdx.x; a < count * TOPICS; a += THREADS) {
            unsigned *from = table + a / TOPICS * STRIDE + a % TOPICS, found = *from;
            if (found) atomicAdd(sums + (int64)first * TOPICS + a, (unsigned long long)found);
            *from = 0;
        }
        for (int k = threadIdx.x; k < TOPICS; k += THREADS) {
            real total = 0;
            for (int other = 0; other < THREADS / 32; ++other) total += mass_of_warp[other][k];
            masses[(int64)at * TOPICS + k] = total;
        }
        if (losses && threadIdx.x == 0) {
            double total = 0;
            for (int other = 0; other < THREADS / 32; ++other) total += loss_of_warp[other];
            losses[at] = total;
        }
    }
}

__device__ __forceinline__ real part_sum(const Part& part) {
    real sum = 0;
#pragma unroll
    for (int c = 0; c < PART; ++c) sum += part.at[c];
    sum += __shfl_xor_sync(ALL, sum, 1);
    return sum + __shfl_xor_sync(ALL, sum, 2);
}

__device__ __forceinline__ Part shares_of(const Part& weights, const Part& otherwise) {
    real total = part_sum(weights);
    Part shares = otherwise;
    if (total > 0) {
#pragma unroll
        for (int c = 0; c < PART; ++c) shares.at[c] = weights.at[c] / total;
    }
    return shares;
}

// A quad a document: sentences become shares of themes, in place; tone_k = sum_u p_uk tone_u and shares of the words.
extern "C" __global__ void place(const int64* ends, int64 n, const real* words, const real* sentence_tone,
                                 const real* prevalence, real* W, real* tone, real* shares) {
    Document one = document(own_document(), n, ends);
    Part otherwise = load(prevalence, 0, one.lane), all = none(), about = none(), spoken = none();
    for (int turn = 0; turn < one.length; ++turn) add_scaled(all, 1, load(W, one.start + turn, one.lane));
    all = shares_of(all, otherwise);
    for (int turn = 0; turn < one.turns; ++turn) {
        bool here = turn < one.length;
        int64 u = here ? one.start + turn : 0;
        Part p = shares_of(here ? load(W, u, one.lane) : none(), all);
        if (!here) continue;
        store(W, u, one.lane, p);
        add_scaled(about, sentence_tone[u], p);
        add_scaled(spoken, words[u], p);
    }
    spoken = shares_of(spoken, otherwise);
    if (!one.there) return;
    store(tone, one.number, one.lane, about);
    store(shares, one.number, one.lane, spoken);
}
