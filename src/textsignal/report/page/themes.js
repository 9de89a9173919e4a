// Themes and tone in the browser: the same mathematics as Python's. Effects come in single precision, which moves no
// prediction by 1e-6.
// Names follow textsignal.text.features, textsignal.training.theme_model and textsignal.insight.theme_explanation.
"use strict";

// Bytes that were deflated, from base64.
async function unpacked(base64) {
  const stream = new Blob([bytesOf(base64)]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

async function themesModel(given) {
  const { withoutMarkup, normalise, tokens, pieces } = textReader(given);
  const read = sentenceReader(given, normalise);
  const buffers = await Promise.all(Object.values(given.packed).map(unpacked));
  const packed = Object.fromEntries(Object.keys(given.packed).map((name, i) => [name, buffers[i]]));
  const vocabulary = new TextDecoder().decode(packed.words).split("\n");
  const number = new Map(vocabulary.map((word, i) => [word, i]));
  const [plain, negated, phrases] = [packed.plain, packed.negated, packed.phrases].map((part) => new Float32Array(part));
  const [firsts, seconds] = [new Uint32Array(packed.firsts), new Uint32Array(packed.seconds)];
  const column = new Map([...new Uint32Array(packed.terms)].map((word, j) => [word, j]));
  const [themes, termWeights] = [new Float32Array(packed.themes), new Float32Array(packed.termWeights)];
  const K = given.gamma.length;
  const { weights } = inference(given, themes, K);
  const family = responseFamilies[given.family.name](given.family);
  const sum = (values) => values.reduce((a, b) => a + b, 0);
  const dot = (a, b) => sum(a.map((value, k) => value * b[k]));
  const shared = (values, otherwise) => {
    const total = sum(values);
    return total > 0 ? values.map((value) => value / total) : otherwise;
  };

  // Index of a phrase; -1 if it is not one. Negated phrases have separate indices.
  function phrase(first, other, under) {
    const second = 2 * other + under;
    let [low, high] = [firsts[first], firsts[first + 1]];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (seconds[middle] < second) low = middle + 1;
      else high = middle;
    }
    return low < firsts[first + 1] && seconds[low] === second ? low : -1;
  }

  // Every occurrence of a feature: the sentence, and the word of it that it belongs to; a phrase belongs to its second.
  function occurrences(sentences) {
    const found = [];
    sentences.forEach(({ words }, sentence) =>
      words.forEach(({ name, under, negated: isNegated }, word) => {
        const code = number.get(name);
        const add = (feature) => found.push({ sentence, word, size: 1, isPhrase: false, ...feature });
        if (code === undefined) return;
        if (!isNegated && !Number.isNaN(plain[code])) add({ id: `w${code}`, tone: plain[code] });
        if (isNegated && !Number.isNaN(negated[code])) add({ id: `n${code}`, tone: negated[code] });
        const before = word > 0 ? number.get(words[word - 1].name) : undefined;
        const place = before === undefined ? -1 : phrase(before, code, under && words[word - 1].under ? 1 : 0);
        if (place >= 0) add({ id: `p${place}`, tone: phrases[place], size: given.phraseSize, isPhrase: true });
      }),
    );
    return found;
  }

  // Share of each occurrence in the text, times its tone: z_f = size_f sqrt(n_f) / |size sqrt(n)|, in equal parts.
  function weigh(found) {
    const counts = new Map();
    for (const { id } of found) counts.set(id, (counts.get(id) ?? 0) + 1);
    const norm = Math.sqrt(sum(found.map(({ size }) => size * size)));
    return found.map(({ id, size, tone }) => (size * tone) / (Math.sqrt(counts.get(id)) * norm));
  }

  // Share of every sentence in each theme. One without a content term has the shares of its text.
  function places(sentences) {
    const found = sentences.map(({ words }) => {
      const counts = new Map();
      for (const { name } of words) {
        const j = column.get(number.get(name));
        if (j !== undefined) counts.set(j, (counts.get(j) ?? 0) + 1);
      }
      const columns = [...counts.keys()].sort((a, b) => a - b);
      return weights({ columns, values: columns.map((j) => counts.get(j) * termWeights[j]) });
    });
    const whole = range(K).map((k) => sum(found.map(({ w }) => w[k])));
    const document = shared(whole, given.prevalence);
    return { of: found.map(({ w }) => shared(w, document)), hasTerms: found.some(({ unknown }) => !unknown) };
  }

  // Prediction of a text and all its parts. Words add up to sentences, sentences to themes, themes and constant to eta.
  function predict(string) {
    const cleaned = withoutMarkup(string);
    const sentences = read.spans(cleaned.read).map(([start, end]) => ({
      start,
      end,
      words: read.words(cleaned.read.slice(start, end)),
    }));
    const found = occurrences(sentences);
    const values = weigh(found);
    const { of, hasTerms } = places(sentences);
    const nWords = sum(sentences.map(({ words }) => words.length));
    const tones = sentences.map(() => 0);
    found.forEach(({ sentence }, i) => (tones[sentence] += values[i]));
    const tone = range(K).map((k) => sum(of.map((place, u) => place[k] * tones[u])));
    const inTheme = range(K).map((k) => sum(of.map((place, u) => place[k] * sentences[u].words.length)));
    const shares = shared(inTheme, given.prevalence);
    const contributions = range(K).map((k) => given.gamma[k] * tone[k] + given.beta[k] * shares[k]);
    const eta = given.constant + sum(contributions);
    const slope = slopeOf(family, given.constant, eta, given.same);
    // Contribution of each word; a phrase is split equally between its two words.
    const wordTones = sentences.map(({ words }) => words.map(() => 0));
    const known = sentences.map(({ words }) => words.map(() => false));
    found.forEach(({ sentence, word, isPhrase }, i) => {
      known[sentence][word] = true;
      wordTones[sentence][word] += isPhrase ? values[i] / 2 : values[i];
      if (isPhrase) wordTones[sentence][word - 1] += values[i] / 2;
    });
    return {
      eta,
      mean: family.mean(eta),
      interval: family.interval?.(eta) ?? null,
      probabilities: family.probabilities?.(eta) ?? null,
      shares,
      unknown: found.length === 0 && !hasTerms,
      contributions,
      baseline: given.constant,
      baselineMean: family.mean(given.constant),
      slope,
      terms: terms(sentences, wordTones, of),
      unknownWords: unknownWords(sentences, known),
      sentences: sentences.map((sentence, u) => {
        const theme = of[u].indexOf(Math.max(...of[u]));
        const byTone = dot(of[u], given.gamma) * tones[u];
        const speaking = (dot(of[u], given.beta) * sentence.words.length) / Math.max(nWords, 1);
        const contribution = byTone + speaking;
        const added = wordTones[u].map((value) => value * dot(of[u], given.gamma));
        return { ...sentence, theme, share: of[u][theme], tone: byTone, speaking, contribution, added };
      }),
    };
  }

  const shown = (name, under) => (under ? given.not + name : name);

  // Contribution of each word of the text, by theme; a negated word is a separate word.
  function terms(sentences, wordTones, of) {
    const found = new Map();
    sentences.forEach(({ words }, u) =>
      words.forEach(({ name, negated: under }, i) => {
        const term = shown(name, under);
        const whole = found.get(term) ?? { term, byTheme: new Array(K).fill(0) };
        found.set(term, whole);
        of[u].forEach((place, k) => (whole.byTheme[k] += given.gamma[k] * place * wordTones[u][i]));
      }),
    );
    return [...found.values()].map((term) => ({ ...term, contribution: sum(term.byTheme) }));
  }

  function unknownWords(sentences, known) {
    const unknown = sentences.flatMap(({ words }, u) => words.filter((_, i) => !known[u][i]));
    return [...new Set(unknown.map(({ name, negated: under }) => shown(name, under)))];
  }

  // The text in pieces, each with the sentence that it stands in; what a word adds is marked where it stands.
  function marked(string, { sentences }) {
    const cleaned = withoutMarkup(string);
    let from = 0;
    const found = sentences.flatMap(({ end, words, added }, sentence) => {
      const parts = pieces(string, cleaned, from, end);
      from = end;
      const placed = parts.flatMap((piece) => tokens(piece.read).map((word) => ({ word, piece })));
      const whole = placed.length === words.length && placed.every(({ word }, i) => word === words[i].name);
      if (whole) {
        placed.forEach(({ piece }, i) => {
          piece.known = true;
          piece.contribution += added[i];
        });
      }
      return parts.map((piece) => ({ ...piece, sentence }));
    });
    if (from < cleaned.read.length || sentences.length === 0) {
      found.push(...pieces(string, cleaned, from).map((piece) => ({ ...piece, sentence: null })));
    }
    return found;
  }

  const words = (text) => tokens(withoutMarkup(text).read);
  return { predict, words, marked, family };
}
