// Reading of texts on the card. What is not defined here stands in documents.cu and tone.cu of textsignal.

// A number for each document's features, in whatever order they stand.
extern "C" __global__ void document_keys(const int64* indptr, const int* indices, int64 n, key* keys) {
    int64 i = own_row();
    int lane = threadIdx.x & 7;
    key sum = 0;
    if (i < n)
        for (int64 p = indptr[i] + lane; p < indptr[i + 1]; p += 8) sum += mix((key)indices[p] + 1);
    for (int far = 4; far; far >>= 1) sum += __shfl_xor_sync(ALL, sum, far);
    if (i < n && lane == 0) keys[i] = mix(sum);
}

// Tone of sentences: sum over occurrences of what each carries times its effect in the fit of the sentence's document.
extern "C" __global__ void sentence_tone(const int64* indptr, const int* features, const float* values, int64 n,
                                         const int* documents, const int* fits, int otherwise, const float* effects,
                                         float* tone) {
    int64 u = own_row();
    int lane = threadIdx.x & 7;
    float sum = 0;
    if (u < n) {
        int fit = fits ? fits[documents[u]] : otherwise;
        for (int64 p = indptr[u] + lane; p < indptr[u + 1]; p += 8)
            sum += values[p] * effects[(int64)features[p] * FITS + fit];
    }
    for (int far = 4; far; far >>= 1) sum += __shfl_xor_sync(ALL, sum, far);
    if (u < n && lane == 0) tone[u] = sum;
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
