// Documents on a graphics card: how lanes of a warp share them.
//
// Compiled for one precision (REAL, of REAL_BYTES) and one number of padded topics (TOPICS, a multiple of 8). Four
// neighbouring lanes of a warp, a quad, hold one document: each a quarter of its topics. A warp's eight documents take
// as many turns as the longest of them has nonzeros, so that all lanes meet in every shuffle.

typedef REAL real;
typedef long long int64;

#define PART (TOPICS / 4)
#define ALL 0xffffffffu
#define EPSILON ((real)1e-16)

#if (TOPICS / 4 * REAL_BYTES) % 16 == 0
typedef int4 word;
#else
typedef int2 word;
#endif

// A lane's part of a row of topics.
union Part {
    real at[PART];
    word words[PART * sizeof(real) / sizeof(word)];
};

__device__ __forceinline__ Part none() {
    Part part;
#pragma unroll
    for (int c = 0; c < PART; ++c) part.at[c] = 0;
    return part;
}

__device__ __forceinline__ Part load(const real* matrix, int64 row, int lane) {
    Part part;
    const word* source = (const word*)(matrix + row * TOPICS + lane * PART);
#pragma unroll
    for (int v = 0; v < sizeof(Part) / sizeof(word); ++v) part.words[v] = source[v];
    return part;
}

__device__ __forceinline__ void store(real* matrix, int64 row, int lane, const Part& part) {
    word* target = (word*)(matrix + row * TOPICS + lane * PART);
#pragma unroll
    for (int v = 0; v < sizeof(Part) / sizeof(word); ++v) target[v] = part.words[v];
}

// Sum over all topics, the same in the four lanes of a quad.
__device__ __forceinline__ real dot(const Part& a, const Part& b) {
    real sum = 0;
#pragma unroll
    for (int c = 0; c < PART; ++c) sum += a.at[c] * b.at[c];
    sum += __shfl_xor_sync(ALL, sum, 1);
    return sum + __shfl_xor_sync(ALL, sum, 2);
}

__device__ __forceinline__ void add_scaled(Part& sum, real scale, const Part& part) {
#pragma unroll
    for (int c = 0; c < PART; ++c) sum.at[c] += scale * part.at[c];
}

// State of a quad for its document.
struct Document {
    int64 number, start;
    int length, turns, lane;
    bool there;
};

__device__ __forceinline__ Document document(int64 i, int64 end, const int64* indptr) {
    Document one;
    one.number = i;
    one.lane = threadIdx.x & 3;
    one.there = i < end;
    one.start = one.there ? indptr[i] : 0;
    one.length = one.there ? (int)(indptr[i + 1] - one.start) : 0;
    one.turns = __reduce_max_sync(ALL, one.length);
    return one;
}

__device__ __forceinline__ int64 own_document() { return ((int64)blockIdx.x * blockDim.x + threadIdx.x) >> 2; }
