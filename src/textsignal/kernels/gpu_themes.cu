// Themes of sentences that all lie on the card, in single precision. What is not defined here stands in gpu_documents.cu.

// Nonzeros whose topics a lane holds at once: most sentences have no more, and then topics are read once.
#if PART <= 4
#define HELD 8
#elif PART <= 8
#define HELD 4
#else
#define HELD 2
#endif

// Where the sum of a term and a topic lies in the table: neighbouring terms in different banks of shared memory.
__device__ __forceinline__ int slot(int term, int lane, int c) {
#if PART == 4
    c ^= (term >> 1) & 3;
#endif
    return term * TOPICS + lane * PART + c;
}

struct Held {
    Part h[HELD];
    real x[HELD];
    int term[HELD];
};

__device__ __forceinline__ void fetch(Held& held, const Document& one, int turn, const int* indices, const real* data,
                                      const real* HT) {
#pragma unroll
    for (int b = 0; b < HELD; ++b) {
        bool here = turn + b < one.length;
        held.term[b] = here ? __ldg(indices + one.start + turn + b) : -1;
        held.x[b] = here ? __ldg(data + one.start + turn + b) : (real)0;
    }
#pragma unroll
    for (int b = 0; b < HELD; ++b) held.h[b] = held.term[b] >= 0 ? load(HT, held.term[b], one.lane) : none();
}

// One iteration of KL-NMF in one pass: the step of the weights, W <- W * pull / mass (left out where `moving` is 0), and
// at the new weights the sums that the step of the topics needs.
//
//     sums_jk = unit_j sum_i weight_i x_ij w_ik H_kj / d_ij,        mass_k = sum_i weight_i w_ik
//
// Sums are whole numbers of 1 / unit_j: these add up to the same in any order, and so do atomics. A block adds a chunk of
// sentences to a table of `count` terms from `first` on in its shared memory, then the table to `sums`; unit is such that
// no sum of a chunk overflows.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
    theme_step(const int64* indptr, const int* indices, const real* data, const real* weight, int64 n, int chunk,
               int n_chunks, const real* HT, const real* per_mass, const real* unit, int first, int count, int moving,
               real* W, unsigned long long* sums, real* masses, double* losses) {
    extern __shared__ int table[];
    __shared__ real mass_of_warp[THREADS / 32][TOPICS];
    __shared__ double loss_of_warp[THREADS / 32];
    const int quads = THREADS / 4, quad = threadIdx.x >> 2, lane = threadIdx.x & 3, warp = threadIdx.x >> 5;
    Part inverse = load(per_mass, 0, lane);
    Held held;
    for (int a = threadIdx.x; a < count * TOPICS; a += THREADS) table[a] = 0;
    for (int at = blockIdx.x; at < n_chunks; at += gridDim.x) {
        int64 begin = (int64)at * chunk, end = min(n, begin + chunk);
        Part mass = none();
        double loss = 0;
        __syncthreads();
        for (int64 base = begin; base < end; base += quads) {
            Document one = document(base + quad, end, indptr);
            Part w = one.there ? load(W, one.number, lane) : none();
            real often = !one.there ? (real)0 : weight ? weight[one.number] : (real)1;
            if (moving) {
                Part pull = none();
                for (int turn = 0; turn < one.turns; turn += HELD) {
                    fetch(held, one, turn, indices, data, HT);
#pragma unroll
                    for (int b = 0; b < HELD; ++b)
                        if (turn + b < one.turns)
                            add_scaled(pull, __fdividef(held.x[b], dot(w, held.h[b]) + EPSILON), held.h[b]);
                }
#pragma unroll
                for (int c = 0; c < PART; ++c) w.at[c] *= pull.at[c] * inverse.at[c];
                if (one.there) store(W, one.number, lane, w);
            }
            add_scaled(mass, often, w);
            for (int turn = 0; turn < one.turns; turn += HELD) {
                if (!moving || one.turns > HELD) fetch(held, one, turn, indices, data, HT);
#pragma unroll
                for (int b = 0; b < HELD; ++b) {
                    if (turn + b >= one.turns) break;
                    real d = dot(w, held.h[b]) + EPSILON;
                    int term = held.term[b] - first;
                    if (losses && lane == 0) loss += often * held.x[b] * logf(d);
                    if (held.term[b] < first || term >= count) continue;
                    real scale = __fdividef(often * held.x[b], d) * __ldg(unit + held.term[b]);
#pragma unroll
                    for (int c = 0; c < PART; ++c)
                        atomicAdd(table + slot(term, lane, c), __float2int_rn(scale * w.at[c] * held.h[b].at[c]));
                }
            }
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
            int term = a / TOPICS, k = a % TOPICS, found = table[slot(term, k / PART, k % PART)];
            if (found) atomicAdd(sums + (int64)(first + term) * TOPICS + k, (unsigned long long)found);
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
        __syncthreads();
        for (int a = threadIdx.x; a < count * TOPICS; a += THREADS) table[a] = 0;
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
