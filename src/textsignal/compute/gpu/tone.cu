// Tone of documents that all lie on the card: steps of Adagrad for eight fits side by side, in single precision.
//
// SLOPE(y, eta) is the derivative of the loss in the linear predictor. Eight neighbouring lanes of a warp hold a document:
// each takes every eighth of its features, and ends with the sum of its fit.

typedef long long int64;
typedef unsigned long long key;

#define ALL 0xffffffffu
#define FITS 8
// Sums are whole numbers of 2^-32: these add up to the same in any order, and so do atomics.
#define UNIT 4294967296.0f
// Spreads small numbers over 64 bits; as in training/draws.py.
#define SPREAD 0x9E3779B97F4A7C15ull

// SplitMix64's finaliser.
__device__ __forceinline__ key mix(key number) {
    number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9ull;
    number = (number ^ (number >> 27)) * 0x94D049BB133111EBull;
    return number ^ (number >> 31);
}

__device__ __forceinline__ int64 own_row() { return ((int64)blockIdx.x * blockDim.x + threadIdx.x) >> 3; }

// The sum over eight lanes of values[fit], in the lane of that fit.
__device__ __forceinline__ float own_sum(float* values, int lane) {
#pragma unroll
    for (int half = 4; half; half >>= 1) {
        bool upper = lane & half;
#pragma unroll
        for (int fit = 0; fit < half; ++fit) {
            float given = upper ? values[fit] : values[fit + half], kept = upper ? values[fit + half] : values[fit];
            values[fit] = kept + __shfl_xor_sync(ALL, given, half);
        }
    }
    return values[0];
}

// Features of a document used in a pass: as `unit_halves` in training/draws.py.
struct Half {
    key cut;
    int side;
    __device__ __forceinline__ bool has(int feature) const {
        return (int)(mix(cut ^ ((key)feature + 1) * SPREAD) >> 63) == side;
    }
};

// Slopes of a batch of visits in each fit, and what brings each half to norm 1.
extern "C" __global__ void slopes(const int64* visits, int n, const int64* rows, const key* keys, key draw, int side,
                                  const int64* indptr, const int* indices, const float* roots, const float* effects,
                                  int64 constant, const float* y, int n_responses, const float* offset,
                                  const int* folds, const float* part, float per_slope, float* found, float* scales) {
    int64 at = own_row();
    int lane = threadIdx.x & 7;
    bool there = at < n;
    int64 visit = there ? visits[at] : 0, i = rows ? rows[visit] : visit;
    Half half = {mix(keys[visit] + draw), side};
    float sums[FITS] = {0}, squares = 0;
    if (there) {
        for (int64 p = indptr[i] + lane, stop = indptr[i + 1]; p < stop; p += 8) {
            int feature = indices[p];
            if (!half.has(feature)) continue;
            float root = roots[p];
            const float4* effect = (const float4*)(effects + (int64)feature * FITS);
            float4 low = effect[0], high = effect[1];
            squares += root * root;
            sums[0] += root * low.x, sums[1] += root * low.y, sums[2] += root * low.z, sums[3] += root * low.w;
            sums[4] += root * high.x, sums[5] += root * high.y, sums[6] += root * high.z, sums[7] += root * high.w;
        }
    }
    for (int far = 4; far; far >>= 1) squares += __shfl_xor_sync(ALL, squares, far);
    float sum = own_sum(sums, lane), scale = squares > 0 ? rsqrtf(squares) : 0.0f;
    if (!there) return;
    float eta = effects[constant * FITS + lane] + scale * sum + (offset ? offset[i] : 0.0f);
    float counting = folds[i] == lane ? 0.0f : (part ? part[visit] : 1.0f) * per_slope;
    float response = y[i * n_responses + (n_responses > 1 ? lane : 0)];
    found[at * FITS + lane] = counting * (SLOPE(response, eta));
    if (lane == 0) scales[at] = scale;
}

// Sums over the batch of gradients and of their squares, added to sums (features, 2 fits).
extern "C" __global__ void gradients(const int64* visits, int n, const int64* rows, const key* keys, key draw, int side,
                                     const int64* indptr, const int* indices, const float* roots, const float* slopes,
                                     const float* scales, key* sums) {
    int64 at = own_row();
    if (at >= n) return;
    int64 visit = visits[at], i = rows ? rows[visit] : visit;
    Half half = {mix(keys[visit] + draw), side};
    float slope[FITS];
#pragma unroll
    for (int fit = 0; fit < FITS; ++fit) slope[fit] = slopes[at * FITS + fit] * scales[at];
    for (int64 p = indptr[i] + (threadIdx.x & 7), stop = indptr[i + 1]; p < stop; p += 8) {
        int feature = indices[p];
        if (!half.has(feature)) continue;
        float root = roots[p];
        key* sum = sums + (int64)feature * 2 * FITS;
#pragma unroll
        for (int fit = 0; fit < FITS; ++fit) {
            float gradient = root * slope[fit];
            if (gradient == 0) continue;
            atomicAdd(sum + fit, (key)__float2ll_rn(gradient * UNIT));
            atomicAdd(sum + FITS + fit, (key)__float2ll_rn(gradient * gradient * UNIT));
        }
    }
}

// Adagrad's step of a whole batch: squares += sum of g^2, effects -= rate sum of g / sqrt(squares). Sums become 0 again.
// The last block is the constant's.
extern "C" __global__ void __launch_bounds__(256)
    step(const float* slopes, int n, float rate, int64 constant, key* sums, float* effects, float* squares) {
    int fit = threadIdx.x & 7;
    if (blockIdx.x < gridDim.x - 1) {
        int64 feature = own_row();
        if (feature >= constant) return;
        key *sum = sums + feature * 2 * FITS + fit, *square = sum + FITS;
        if (*square == 0 && *sum == 0) return;
        float total = squares[feature * FITS + fit] + (float)(int64)*square / UNIT;
        squares[feature * FITS + fit] = total;
        effects[feature * FITS + fit] -= rate * ((float)(int64)*sum / UNIT) * rsqrtf(total);
        *sum = *square = 0;
        return;
    }
    __shared__ double firsts[32][FITS], seconds[32][FITS];
    double first = 0, second = 0;
    for (int i = threadIdx.x >> 3; i < n; i += 32) {
        float slope = slopes[(int64)i * FITS + fit];
        first += slope;
        second += (double)slope * slope;
    }
    firsts[threadIdx.x >> 3][fit] = first;
    seconds[threadIdx.x >> 3][fit] = second;
    __syncthreads();
    if (threadIdx.x >= FITS) return;
    for (int group = 1; group < 32; ++group) first += firsts[group][fit], second += seconds[group][fit];
    float total = squares[constant * FITS + fit] + (float)second;
    squares[constant * FITS + fit] = total;
    effects[constant * FITS + fit] -= rate * (float)first * rsqrtf(total);
}
