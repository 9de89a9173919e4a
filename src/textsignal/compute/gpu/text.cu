// Text on a graphics card: weights of documents and sums over them. Formulas stand in reference.py; what is not defined
// here stands in documents.cu.

#define MOST_OF_THE_WAY ((real)0.9)

// sum_j x_j / (wH)_j H_j
__device__ __forceinline__ Part document_pull(const Document& one, const int* indices, const real* data, const real* HT,
                                              const Part& w) {
    Part pull = none();
    for (int turn = 0; turn < one.turns; ++turn) {
        bool here = turn < one.length;
        real x = here ? data[one.start + turn] : (real)0;
        Part h = here ? load(HT, indices[one.start + turn], one.lane) : none();
        add_scaled(pull, x / (dot(w, h) + EPSILON), h);
    }
    return pull;
}

extern "C" __global__ void pull_on_weights(const int64* indptr, const int* indices, const real* data, int64 n,
                                           const real* W, const real* HT, real* pull) {
    Document one = document(own_document(), n, indptr);
    Part w = one.there ? load(W, one.number, one.lane) : none();
    Part found = document_pull(one, indices, data, HT, w);
    if (one.there) store(pull, one.number, one.lane, found);
}

// Each document's best weights without smoothing, in place.
extern "C" __global__ void infer(const int64* indptr, const int* indices, const real* data, int64 n, const real* HT,
                                 const real* mass, double tol, int max_iter, real* W, int64* steps) {
    Document one = document(own_document(), n, indptr);
    Part w = one.there ? load(W, one.number, one.lane) : none(), all = load(mass, 0, one.lane);
    bool done = !one.there;
    int taken = 0;
    for (int step = 0; step < max_iter && !__all_sync(ALL, done); ++step) {
        Part pull = document_pull(one, indices, data, HT, w);
        real largest = 0;
#pragma unroll
        for (int c = 0; c < PART; ++c) {
            real upper = w.at[c] * pull.at[c];
            if (w.at[c] * all.at[c] > 0) largest = max(largest, upper / (w.at[c] * all.at[c]));
            if (!done) w.at[c] = all.at[c] > 0 ? upper / all.at[c] : (real)0;
        }
        largest = max(largest, __shfl_xor_sync(ALL, largest, 1));
        largest = max(largest, __shfl_xor_sync(ALL, largest, 2));
        if (!done) {
            taken = step + 1;
            done = step > 0 && (double)(largest - 1) < tol;
        }
    }
    if (one.there) {
        store(W, one.number, one.lane, w);
        if (one.lane == 0) steps[one.number] = taken;
    }
}

// One block of 128 threads a term: sums over its nonzeros in their order, in a tree that is always the same.
//
//     text alone:  weight r w;       where weights follow the topics (directions u):  r (u - weight w) - r / d (u . h) w
extern "C" __global__ void topic_sums(const int64* starts, const int64* order, const int* rows, const real* data,
                                      const real* W, const real* HT, const real* weight, const real* directions,
                                      real* pull, double* logs) {
    __shared__ real sums[32][TOPICS];
    __shared__ double losses[32];
    int quad = threadIdx.x >> 2, lane = threadIdx.x & 3;
    int64 stop = starts[blockIdx.x + 1];
    Part h = load(HT, blockIdx.x, lane), sum = none();
    double loss = 0;
    for (int64 base = starts[blockIdx.x]; base < stop; base += 32) {
        bool here = base + quad < stop;
        int64 p = here ? order[base + quad] : 0;
        int64 i = here ? rows[p] : 0;
        Part w = here ? load(W, i, lane) : none();
        real x = here ? data[p] : (real)0, often = here ? weight[i] : (real)0;
        real d = dot(w, h) + EPSILON, r = x / d;
        loss += (double)(often * x) * log((double)d);
        if (directions) {
            Part u = here ? load(directions, i, lane) : none();
            add_scaled(sum, -often * r - r / d * dot(u, h), w);
            add_scaled(sum, r, u);
        } else {
            add_scaled(sum, often * r, w);
        }
    }
#pragma unroll
    for (int c = 0; c < PART; ++c) sums[quad][lane * PART + c] = sum.at[c];
    if (lane == 0) losses[quad] = loss;
    __syncthreads();
    for (int k = threadIdx.x; k < TOPICS; k += blockDim.x) {
        real total = 0;
        for (int q = 0; q < 32; ++q) total += sums[q][k];
        pull[(int64)blockIdx.x * TOPICS + k] = total;
    }
    if (threadIdx.x == 0) {
        double total = 0;
        for (int q = 0; q < 32; ++q) total += losses[q];
        logs[blockIdx.x] = total;
    }
}

__device__ __forceinline__ real warp_sum(real value) {
    for (int far = 16; far; far >>= 1) value += __shfl_xor_sync(ALL, value, far);
    return value;
}

__device__ __forceinline__ real warp_min(real value) {
    for (int far = 16; far; far >>= 1) value = min(value, __shfl_xor_sync(ALL, value, far));
    return value;
}

// One warp a document from here on. A's lower triangle and the pull at weights w; topics without mass get a row of the
// unit matrix.
__device__ void document_curvature(const int* indices, const real* data, int64 start, int64 stop, const real* HT,
                                   const real* mass, real smoothing, const real* w, real* pull, real* A) {
    int lane = threadIdx.x;
    for (int k = lane; k < TOPICS; k += 32) pull[k] = 0;
    for (int a = lane; a < TOPICS * TOPICS; a += 32) A[a] = 0;
    __syncwarp();
    for (int64 p = start; p < stop; ++p) {
        const real* h = HT + (int64)indices[p] * TOPICS;
        real d = 0;
        for (int k = lane; k < TOPICS; k += 32) d += w[k] * h[k];
        d = warp_sum(d) + EPSILON;
        real r = data[p] / d;
        for (int k = lane; k < TOPICS; k += 32) pull[k] += r * h[k];
        for (int a = lane; a < TOPICS * TOPICS; a += 32)
            if (a % TOPICS <= a / TOPICS) A[a] += r / d * h[a / TOPICS] * h[a % TOPICS];
    }
    __syncwarp();
    for (int k = lane; k < TOPICS; k += 32) A[k * TOPICS + k] += mass[k] > 0 ? smoothing / (w[k] * w[k]) : (real)1;
    __syncwarp();
}

// Solve A x = b for a positive definite A, whose lower triangle becomes its Cholesky factor.
__device__ void solve(real* A, const real* b, real* x) {
    int lane = threadIdx.x;
    for (int j = 0; j < TOPICS; ++j) {
        for (int i = j + lane; i < TOPICS; i += 32) {
            real rest = A[i * TOPICS + j];
            for (int k = 0; k < j; ++k) rest -= A[i * TOPICS + k] * A[j * TOPICS + k];
            A[i * TOPICS + j] = rest;
        }
        __syncwarp();
        real root = sqrt(A[j * TOPICS + j]);
        __syncwarp();
        for (int i = j + lane; i < TOPICS; i += 32) A[i * TOPICS + j] = i == j ? root : A[i * TOPICS + j] / root;
        __syncwarp();
    }
    for (int i = 0; i < TOPICS; ++i) {
        real known = 0;
        for (int k = lane; k < i; k += 32) known += A[i * TOPICS + k] * x[k];
        known = warp_sum(known);
        if (lane == 0) x[i] = (b[i] - known) / A[i * TOPICS + i];
        __syncwarp();
    }
    for (int i = TOPICS - 1; i >= 0; --i) {
        real known = 0;
        for (int k = i + 1 + lane; k < TOPICS; k += 32) known += A[k * TOPICS + i] * x[k];
        known = warp_sum(known);
        if (lane == 0) x[i] = (x[i] - known) / A[i * TOPICS + i];
        __syncwarp();
    }
}

// Each document's best weights with smoothing, in place: multiplicative steps, then Newton's.
extern "C" __global__ void infer_smoothed(const int64* indptr, const int* indices, const real* data, const real* HT,
                                          const real* mass, real smoothing, double tol, int first_steps, int max_iter,
                                          real* W, int64* steps) {
    extern __shared__ char memory[];
    real *w = (real*)memory, *pull = w + TOPICS, *gradient = pull + TOPICS, *direction = gradient + TOPICS;
    real* A = direction + TOPICS;
    int lane = threadIdx.x;
    int64 i = blockIdx.x, start = indptr[i], stop = indptr[i + 1];
    for (int k = lane; k < TOPICS; k += 32) w[k] = W[i * TOPICS + k];
    __syncwarp();
    int step = 0;
    for (bool done = false; step < max_iter && !done; ++step) {
        document_curvature(indices, data, start, stop, HT, mass, smoothing, w, pull, A);
        real gap;
        if (step < first_steps) {
            real largest = 0;
            for (int k = lane; k < TOPICS; k += 32) {
                real upper = w[k] * pull[k] + smoothing;
                if (w[k] * mass[k] > 0) largest = max(largest, upper / (w[k] * mass[k]));
                w[k] = mass[k] > 0 ? upper / mass[k] : (real)0;
            }
            gap = -warp_min(-largest) - 1;
        } else {
            for (int k = lane; k < TOPICS; k += 32)
                gradient[k] = mass[k] > 0 ? mass[k] - pull[k] - smoothing / w[k] : (real)0;
            __syncwarp();
            solve(A, gradient, direction);
            real longest = 1, decrement = 0, size = 0, change = 0;
            for (int k = lane; k < TOPICS; k += 32) {
                decrement += gradient[k] * direction[k];
                size += mass[k] * w[k];
                change += mass[k] * direction[k];
                if (direction[k] > 0) longest = min(longest, MOST_OF_THE_WAY * w[k] / direction[k]);
            }
            longest = warp_min(longest);
            for (int k = lane; k < TOPICS; k += 32) w[k] -= longest * direction[k];
            gap = warp_sum(decrement) / 2 / (warp_sum(size) - longest * warp_sum(change));
        }
        __syncwarp();
        done = step > 0 && (double)gap < tol;
    }
    for (int k = lane; k < TOPICS; k += 32) W[i * TOPICS + k] = w[k];
    if (lane == 0) steps[i] = step;
}

// u = A^-1 (slope beta) of every document; slope (documents, predictors), beta (topics, predictors).
extern "C" __global__ void directions(const int64* indptr, const int* indices, const real* data, const real* W,
                                      const real* HT, const real* mass, const double* slope, const double* beta,
                                      int predictors, real smoothing, real* found) {
    extern __shared__ char memory[];
    real *w = (real*)memory, *pull = w + TOPICS, *right = pull + TOPICS, *u = right + TOPICS, *A = u + TOPICS;
    int lane = threadIdx.x;
    int64 i = blockIdx.x;
    for (int k = lane; k < TOPICS; k += 32) {
        w[k] = W[i * TOPICS + k];
        double sum = 0;
        for (int p = 0; p < predictors; ++p) sum += slope[i * predictors + p] * beta[k * predictors + p];
        right[k] = mass[k] > 0 ? (real)sum : (real)0;
    }
    __syncwarp();
    document_curvature(indices, data, indptr[i], indptr[i + 1], HT, mass, smoothing, w, pull, A);
    solve(A, right, u);
    for (int k = lane; k < TOPICS; k += 32) found[i * TOPICS + k] = u[k];
}

// Several fits side by side, in place of topics: constant + x effects.
extern "C" __global__ void predictors(const int64* indptr, const int* indices, const real* data, int64 n,
                                      const real* effects, int64 constant, real* eta) {
    Document one = document(own_document(), n, indptr);
    if (!one.there) return;
    Part sum = load(effects, constant, one.lane);
    for (int64 p = one.start; p < one.start + one.length; ++p)
        add_scaled(sum, data[p], load(effects, indices[p], one.lane));
    store(eta, one.number, one.lane, sum);
}
