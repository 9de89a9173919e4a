// Themes of sentences that all lie on the card, in single precision. What is not defined here stands in documents.cu.

// Added to a number below 2^22, this leaves it rounded to a whole one in the last bits.
#define ROUNDER 12582912.0f

// Four of a sentence's nonzeros, one in each lane of its quad. A term without topics, of value 0, stands for none.
struct Four {
    int term;
    real x;
};

// span : where a sentence's nonzeros begin in its chunk, and how many there are.
__device__ __forceinline__ Four read(const int2* __restrict__ text, int2 span, int turn, int lane, int nothing) {
    int2 nonzero = turn + lane < span.y ? __ldg(text + span.x + turn + lane) : make_int2(nothing, 0);
    return {nonzero.x, __int_as_float(nonzero.y)};
}

// State of a lane for its sentence; h : its part of the topics of four terms.
struct Work {
    Part w, pull, h[4];
    Four four;
    int lane;
};

// In what follows N of the four are there, the same for all sentences of a warp.

template <int N>
__device__ __forceinline__ void gather(Work& work, const real* __restrict__ HT) {
#pragma unroll
    for (int b = 0; b < N; ++b) work.h[b] = load(HT, __shfl_sync(ALL, work.four.term, b, 4), work.lane);
}

// d = w . h[lane] + EPSILON: sums over the quad, each in the lane that it belongs to.
template <int N>
__device__ __forceinline__ real own_reconstruction(const Work& work) {
    real sums[4] = {0, 0, 0, 0};
#pragma unroll
    for (int b = 0; b < N; ++b) {
#pragma unroll
        for (int c = 0; c < PART; ++c) sums[b] += work.w.at[c] * work.h[b].at[c];
    }
    if (N == 1) {
        sums[0] += __shfl_xor_sync(ALL, sums[0], 1);
        return sums[0] + __shfl_xor_sync(ALL, sums[0], 2) + EPSILON;
    }
#pragma unroll
    for (int half = 2; half; half >>= 1) {
        bool upper = work.lane & half;
#pragma unroll
        for (int b = 0; b < half; ++b) {
            real given = upper ? sums[b] : sums[b + half], kept = upper ? sums[b + half] : sums[b];
            sums[b] = kept + __shfl_xor_sync(ALL, given, half);
        }
    }
    return sums[0] + EPSILON;
}

template <int N>
__device__ __forceinline__ void add_pull(Work& work) {
    real ratio = __fdividef(work.four.x, own_reconstruction<N>(work));
#pragma unroll
    for (int b = 0; b < N; ++b) add_scaled(work.pull, __shfl_sync(ALL, ratio, b, 4), work.h[b]);
}

// Position of the sum of a term and a topic in the table: terms in different banks of shared memory.
__device__ __forceinline__ int slot(int term, int k) {
#if PART == 4
    return (term * TOPICS | k) ^ ((term >> 1) & 3);
#else
    return term * TOPICS + k;
#endif
}

// A table of sums of `count` terms from `first` on, and a row for all others.
struct Table {
    unsigned* sums;
    int first, count;
};

template <int N>
__device__ __forceinline__ void add_sums(const Work& work, const Table& table, real often, real unit, double& loss) {
    const real d = own_reconstruction<N>(work), x = often * work.four.x, own = __fdividef(x, d) * unit;
    const int own_term = (int)min((unsigned)(work.four.term - table.first), (unsigned)table.count);
    if (LOSS) loss += x * logf(d);
#pragma unroll
    for (int b = 0; b < N; ++b) {
        const real scale = __shfl_sync(ALL, own, b, 4);
        const int term = __shfl_sync(ALL, own_term, b, 4);
#pragma unroll
        for (int c = 0; c < PART; ++c) {
            float rounded = fmaf(scale, work.w.at[c] * work.h[b].at[c], ROUNDER);
            unsigned* sum = table.sums + slot(term, work.lane * PART + c);
            atomicAdd(sum, __float_as_uint(rounded) - __float_as_uint(ROUNDER));
        }
    }
}

__device__ __forceinline__ void move(Work& work, const real* __restrict__ per_mass) {
    const Part inverse = load(per_mass, 0, work.lane);
#pragma unroll
    for (int c = 0; c < PART; ++c) work.w.at[c] *= work.pull.at[c] * inverse.at[c];
}

// Data of an iteration shared by all sentences of a warp.
struct Step {
    const real *HT, *per_mass;
    Table table;
    real unit;
    bool moving;
};

// A sentence of at most four terms: their topics are read once.
template <int N>
__device__ __forceinline__ void short_step(Work& work, const Step& step, real often, double& loss) {
    gather<N>(work, step.HT);
    if (step.moving) {
        add_pull<N>(work);
        move(work, step.per_mass);
    }
    add_sums<N>(work, step.table, often, step.unit, loss);
}

// Up to four of more terms: towards the step of the weights, or at the new ones.
template <int N>
__device__ __forceinline__ void part_step(Work& work, const Step& step, bool moved, real often, double& loss) {
    gather<N>(work, step.HT);
    if (moved) add_sums<N>(work, step.table, often, step.unit, loss);
    else add_pull<N>(work);
}

// Sums of each term's values over the sentences of each chunk, rounded up to whole numbers of 1 / fine.
extern "C" __global__ void chunk_sums(const int64* indptr, const int* indices, const float* data, int64 n, int chunk,
                                      int64 n_terms, float fine, unsigned long long* sums) {
    int64 i = own_document();
    if (i >= n) return;
    unsigned long long* own = sums + i / chunk * n_terms;
    for (int64 p = indptr[i] + (threadIdx.x & 3); p < indptr[i + 1]; p += 4)
        atomicAdd(own + indices[p], (unsigned long long)ceilf(data[p] * fine));
}

// Sentences of every chunk in the order of `order`, their nonzeros as pairs of term and value; spans as in `read`.
extern "C" __global__ void sort_sentences(const int64* order, const int64* indptr, const int* indices, const real* data,
                                          int64 n, int chunk, const int64* ends, int2* spans, int2* nonzeros) {
    int64 i = own_document();
    if (i >= n) return;
    int64 from = indptr[order[i]], to = ends[i];
    int lane = threadIdx.x & 3, length = (int)(ends[i + 1] - to);
    for (int p = lane; p < length; p += 4)
        nonzeros[to + p] = make_int2(indices[from + p], __float_as_int(data[from + p]));
    if (lane == 0) spans[i] = make_int2((int)(to - ends[i / chunk * chunk]), length);
}

// One iteration of KL-NMF in one pass: the step of the weights, W <- W * pull / mass (skipped if `moving` is 0), and
// at the new weights the sums that the step of the topics needs. HT has a row of zeros behind the n_terms.
//
//     sums_jk = unit sum_i weight_i x_ij w_ik H_kj / d_ij,        mass_k = sum_i weight_i w_ik
//
// Sums are whole numbers of 1 / unit: these add up to the same in any order, and so do atomics. A block adds a chunk of
// sentences to a table of `count` terms from `first` on in its shared memory, then the table to `sums`; unit is such that
// no sum of a chunk overflows. While a sentence is worked on, the next is on its way from memory.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
    theme_step(const int64* __restrict__ starts, const int2* __restrict__ spans, const int2* __restrict__ nonzeros,
               const real* __restrict__ weight, int64 n, int chunk, int n_chunks, const real* __restrict__ HT, int n_terms,
               const real* __restrict__ per_mass, real unit, int first, int count, int moving, real* W,
               unsigned long long* sums, real* masses, double* losses) {
    extern __shared__ unsigned memory[];
    __shared__ real mass_of_warp[THREADS / 32][TOPICS];
    __shared__ double loss_of_warp[THREADS / 32];
    const int quads = THREADS / 4, quad = threadIdx.x >> 2, lane = threadIdx.x & 3, warp = threadIdx.x >> 5;
    const Step step = {HT, per_mass, {memory, first, count}, unit, moving != 0};
    const int2 no_span = make_int2(0, 0);
    Work work;
    work.lane = lane;
    for (int a = threadIdx.x; a < (count + 1) * TOPICS; a += THREADS) memory[a] = 0;
    for (int at = blockIdx.x; at < n_chunks; at += gridDim.x) {
        const int64 begin = (int64)at * chunk;
        const int size = (int)min((int64)chunk, n - begin);
        const int2 *of_chunk = spans + begin, *text = nonzeros + starts[at];
        real* weights = W + begin * TOPICS;
        Part mass = none();
        double loss = 0;
        int2 span = quad < size ? of_chunk[quad] : no_span;
        int2 next = quads + quad < size ? of_chunk[quads + quad] : no_span;
        work.four = read(text, span, 0, lane, n_terms);
        work.w = quad < size ? load(weights, quad, lane) : none();
        __syncthreads();
        for (int i = quad; i - quad < size; i += quads) {
            const int2 after = i + 2 * quads < size ? of_chunk[i + 2 * quads] : no_span;
            const Four four_next = read(text, next, 0, lane, n_terms);
            const Part w_next = i + quads < size ? load(weights, i + quads, lane) : none();
            const real often = i >= size ? (real)0 : weight ? weight[begin + i] : (real)1;
            const int turns = __reduce_max_sync(ALL, span.y);
            work.pull = none();
            if (turns == 1) short_step<1>(work, step, often, loss);
            else if (turns == 2) short_step<2>(work, step, often, loss);
            else if (turns == 3) short_step<3>(work, step, often, loss);
            else if (turns == 4) short_step<4>(work, step, often, loss);
            else {
                for (int moved = !moving; moved < 2; ++moved) {
                    for (int left = turns; left > 0; left -= 4) {
                        work.four = read(text, span, turns - left, lane, n_terms);
                        if (left == 1) part_step<1>(work, step, moved, often, loss);
                        else if (left == 2) part_step<2>(work, step, moved, often, loss);
                        else if (left == 3) part_step<3>(work, step, moved, often, loss);
                        else part_step<4>(work, step, moved, often, loss);
                    }
                    if (!moved) move(work, per_mass);
                }
            }
            if (moving && i < size) store(weights, i, lane, work.w);
            add_scaled(mass, often, work.w);
            span = next;
            next = after;
            work.four = four_next;
            work.w = w_next;
        }
#pragma unroll
        for (int c = 0; c < PART; ++c) {
            for (int far = 16; far > 2; far >>= 1) mass.at[c] += __shfl_xor_sync(ALL, mass.at[c], far);
            if ((threadIdx.x & 31) < 4) mass_of_warp[warp][lane * PART + c] = mass.at[c];
        }
        if (LOSS) {
            for (int far = 16; far; far >>= 1) loss += __shfl_xor_sync(ALL, loss, far);
            if ((threadIdx.x & 31) == 0) loss_of_warp[warp] = loss;
        }
        __syncthreads();
        for (int a = threadIdx.x; a < count * TOPICS; a += THREADS) {
            unsigned *from = memory + slot(a / TOPICS, a % TOPICS), found = *from;
            if (found) atomicAdd(sums + (int64)first * TOPICS + a, (unsigned long long)found);
            *from = 0;
        }
        for (int k = threadIdx.x; k < TOPICS; k += THREADS) {
            real total = 0;
            for (int other = 0; other < THREADS / 32; ++other) total += mass_of_warp[other][k];
            masses[(int64)at * TOPICS + k] = total;
        }
        if (LOSS && threadIdx.x == 0) {
            double total = 0;
            for (int other = 0; other < THREADS / 32; ++other) total += loss_of_warp[other];
            losses[at] = total;
        }
    }
}
