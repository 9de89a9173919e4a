// Documents made on the card: sentences about themes, words that follow Zipf's law, ratings from planted tone.
//
// Both kernels draw the same: the first says how much there is, the second writes it. A thread makes a document.

typedef long long int64;
typedef unsigned long long key;

#define MOST_WORDS 160

struct Draws {
    key state;
    __device__ key next() {
        key number = (state += 0x9E3779B97F4A7C15ull);
        number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9ull;
        number = (number ^ (number >> 27)) * 0x94D049BB133111EBull;
        return number ^ (number >> 31);
    }
    __device__ float uniform() { return (next() >> 40) * (1.0f / 16777216.0f); }
    __device__ int below(int n) { return (int)(uniform() * n); }
};

// A document's words; those below N_TERMS are content terms. ends : where each sentence's words end.
struct Made {
    int n_sentences, n_words, word[MOST_WORDS], ends[8];
};

__device__ void make(Made& made, key seed, int64 i, const float* cumulated) {
    Draws draws = {seed + (key)i * 0xD1342543DE82EF95ull};
    int favourites[3] = {draws.below(THEMES), draws.below(THEMES), draws.below(THEMES)};
    made.n_sentences = 3 + draws.below(5);
    made.n_words = 0;
    for (int s = 0; s < made.n_sentences; ++s) {
        int theme = draws.uniform() < 0.9f ? favourites[draws.below(3)] : draws.below(THEMES);
        for (int left = 2 + draws.below(5); left; --left) {
            const float* sums = cumulated + (int64)theme * N_TERMS;
            float at = draws.uniform();
            int low = 0, high = N_TERMS - 1;
            while (low < high) {
                int middle = (low + high) / 2;
                if (sums[middle] > at) high = middle;
                else low = middle + 1;
            }
            made.word[made.n_words++] = low;
        }
        for (int left = 6 + draws.below(9); left; --left) {
            int rank = (int)expf(draws.uniform() * logf((float)(N_FEATURES - N_TERMS)));
            made.word[made.n_words++] = N_TERMS + min(rank, N_FEATURES - N_TERMS) - 1;
        }
        made.ends[s] = made.n_words;
    }
}

// How often the word at `at` stands in [from, to), 0 if it did so before `at` already.
__device__ int times(const Made& made, int from, int at, int to) {
    for (int p = from; p < at; ++p)
        if (made.word[p] == made.word[at]) return 0;
    int count = 0;
    for (int p = at; p < to; ++p) count += made.word[p] == made.word[at];
    return count;
}

extern "C" __global__ void measure(key seed, int64 n, const float* cumulated, int64* sizes) {
    int64 i = (int64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Made made;
    make(made, seed, i, cumulated);
    int features = 0, terms = 0;
    for (int s = 0, from = 0; s < made.n_sentences; from = made.ends[s++])
        for (int p = from; p < made.ends[s]; ++p) {
            features += times(made, 0, p, made.n_words) > 0;
            terms += made.word[p] < N_TERMS && times(made, from, p, made.ends[s]) > 0;
        }
    sizes[i] = made.n_sentences;
    sizes[n + i] = features;
    sizes[2 * n + i] = terms;
    sizes[3 * n + i] = made.n_words;
}

extern "C" __global__ void write(key seed, int64 n, const float* cumulated, const float* tone, float constant,
                                 const int64* ends, int64* unit_ptr, int* unit_term, float* unit_count,
                                 int* feature, float* root, int64* word_ptr, int* word_feature, float* word_value,
                                 int* documents, float* words, float* eta, float* y) {
    int64 i = (int64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Made made;
    make(made, seed, i, cumulated);
    const int64 *of_units = ends, *of_features = ends + n + 1, *of_terms = ends + 2 * (n + 1), *of_words = ends + 3 * (n + 1);
    int64 u = of_units[i], f = of_features[i], t = of_terms[i], w = of_words[i];
    float norm = 0, sum = 0;
    for (int p = 0; p < made.n_words; ++p) {
        int count = times(made, 0, p, made.n_words);
        if (!count) continue;
        feature[f] = made.word[p];
        root[f++] = sqrtf((float)count);
        norm += count;
        sum += sqrtf((float)count) * tone[made.word[p]];
    }
    norm = rsqrtf(norm);
    for (int s = 0, from = 0; s < made.n_sentences; from = made.ends[s++], ++u) {
        unit_ptr[u] = t;
        word_ptr[u] = w;
        documents[u] = (int)i;
        words[u] = (float)(made.ends[s] - from);
        for (int p = from; p < made.ends[s]; ++p) {
            int in_sentence = made.word[p] < N_TERMS ? times(made, from, p, made.ends[s]) : 0, in_document = 0;
            if (in_sentence) {
                unit_term[t] = made.word[p];
                unit_count[t++] = (float)in_sentence;
            }
            for (int q = 0; q < made.n_words; ++q) in_document += made.word[q] == made.word[p];
            word_feature[w] = made.word[p];
            word_value[w++] = norm * rsqrtf((float)in_document);
        }
    }
    Draws draws = {(seed ^ 0x5851F42D4C957F2Dull) + (key)i * 0xD1342543DE82EF95ull};
    eta[i] = constant + norm * sum;
    float chance = 1 / (1 + expf(-eta[i])), stars = 0;
    for (int trial = 0; trial < 4; ++trial) stars += draws.uniform() < chance;
    y[i] = stars;
    if (i == n - 1) unit_ptr[u] = t, word_ptr[u] = w;
}
