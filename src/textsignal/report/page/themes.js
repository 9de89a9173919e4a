// Themes and tone in the browser: the same mathematics as Python's. Effects come in single precision, which moves no
// prediction by 1e-6.
// Names follow textsignal.text.features, textsignal.text.prediction, textsignal.training.theme_model and
// textsignal.insight.explanation.
"use strict";

// Bytes that were deflated, from base64.
async function unpacked(base64) {
  const stream = new Blob([bytesOf(base64)]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

async function themesModel(given) {
  const { withoutMarkup, normalise, tokens, pieces } = textReader(given);
  const buffers = await Promise.all(Object.values(given.packed).map(unpacked));
  const packed = Object.fromEntries(Object.keys(given.packed).map((name, i) => [name, buffers[i]]));
  const floats = (name) => new Float32Array(packed[name]);
  const vocabulary = new TextDecoder().decode(packed.words).split("\n");
  const number = new Map(vocabulary.map((word, i) => [word, i]));
  // Effects of words, of words under a negation and of phrases, on tone and on judgement.
  const effectsOf = (name) => ({ tone: floats(name), judgement: floats(`${name}Judged`), flags: floats(`${name}Flags`) });
  const [plain, negated, phrases] = ["plain", "negated", "phrases"].map(effectsOf);
  const [firsts, seconds] = [new Uint32Array(packed.firsts), new Uint32Array(packed.seconds)];
  const [clauseKinds, verdictKinds] = [new Uint8Array(packed.clauseKinds), new Uint8Array(packed.verdictKinds)];
  const scores = new Float64Array(packed.scores);
  const column = new Map([...new Uint32Array(packed.terms)].map((word, j) => [word, j]));
  const [votes, typical] = [new Uint16Array(packed.votes), new Uint8Array(packed.typical)];
  const names = new Uint8Array(packed.names);
  const toneless = new Set(given.toneless);
  const K = given.nThemes;
  const read = sentenceReader(given, normalise, (name) => clauseKinds[number.get(name)]);
  const { bestThemes, placeClauses, inText, evidenceOf, kindOf } = clauseJudge(given, K);
  const family = responseFamilies[given.family.name](given.family);
  const sum = (values) => values.reduce((a, b) => a + b, 0);

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

  // Every occurrence of a feature: the clause, and the word of it that it belongs to; a phrase belongs to its second.
  function occurrences(clauses) {
    const found = [];
    clauses.forEach(({ words }, clause) =>
      words.forEach(({ name, under, negated: isNegated }, word) => {
        const code = number.get(name);
        if (code === undefined) return;
        const add = (id, effects, feature, size) =>
          found.push({
            id: `${id}${feature}`,
            clause,
            word,
            size,
            effect: effects.tone[feature],
            judging: effects.judgement[feature],
            flags: effects.flags[feature],
          });
        const alone = isNegated ? negated : plain;
        if (!Number.isNaN(alone.tone[code])) add(isNegated ? "n" : "w", alone, code, 1);
        const before = word > 0 ? number.get(words[word - 1].name) : undefined;
        const place = before === undefined ? -1 : phrase(before, code, under && words[word - 1].under ? 1 : 0);
        if (place >= 0) add("p", phrases, place, given.phraseSize);
      }),
    );
    return found;
  }

  // Tone of each occurrence: its share of the text, z_f = size_f sqrt(n_f) / |size sqrt(n)| in equal parts, times its
  // effect; and what it adds to the judgement of its clause.
  function weigh(found, nClauses) {
    const counts = new Map();
    const squares = new Array(nClauses).fill(0);
    for (const { id, clause, size } of found) {
      counts.set(id, (counts.get(id) ?? 0) + 1);
      squares[clause] += size * size;
    }
    const norm = Math.sqrt(sum(squares));
    return found.map((each) => ({
      ...each,
      tone: (each.size * each.effect) / (Math.sqrt(counts.get(each.id)) * norm),
      judgement: (each.size * each.judging) / Math.sqrt(squares[each.clause]),
    }));
  }

  // Votes of the content terms of a clause for the themes, which of these one is typical of, and whether one names a theme.
  function themesOf({ words }) {
    const counts = new Map();
    for (const { name } of words) {
      const j = column.get(number.get(name));
      if (j !== undefined) counts.set(j, (counts.get(j) ?? 0) + 1);
    }
    const terms = [...counts.keys()];
    const own = range(K).map((k) => sum(terms.map((j) => counts.get(j) * votes[j * K + k])) / given.votes.steps);
    const isTypical = range(K).map((k) => terms.some((j) => typical[j * K + k] > 0));
    return { votes: own, typical: isTypical, names: terms.some((j) => names[j] > 0), hasTerms: terms.length > 0 };
  }

  function ofWord(name) {
    const code = number.get(name);
    return code === undefined ? { score: 0, kind: 0 } : { score: scores[code], kind: verdictKinds[code] };
  }

  // Prediction of a text and all its parts. Words add up to clauses, clauses to themes, themes and baseline to eta.
  function predict(string) {
    const clauses = read.clauses(withoutMarkup(string).read);
    const found = weigh(occurrences(clauses), clauses.length);
    const [themed, joined] = [clauses.map(themesOf), clauses.map((clause) => clause.joined)];
    const best = bestThemes(themed, joined);
    const places = placeClauses(clauses, best, ofWord);
    const judgement = clauses.map(() => 0);
    const flags = clauses.map(() => 0);
    found.forEach((each) => {
      judgement[each.clause] += each.judgement;
      flags[each.clause] |= each.flags;
    });
    const nWords = sum(clauses.map(({ words }) => words.length));
    const evidence = found.length === 0 ? 0 : evidenceOf(sum(judgement.map((own) => own * own)), nWords);
    // Tone of each word, before evidence; a phrase is split equally between its two words.
    const wordTones = clauses.map(({ words }) => words.map(() => 0));
    const known = clauses.map(({ words }) => words.map(() => false));
    for (const { clause, word, id, ...each } of found) {
      const added = each.tone + (given.judgement.judged * each.judgement) / clauses.length;
      const isPhrase = id.startsWith("p");
      known[clause][word] = true;
      wordTones[clause][word] += isPhrase ? added / 2 : added;
      if (isPhrase) wordTones[clause][word - 1] += added / 2;
    }
    const tones = wordTones.map(sum);
    const judged = inText(judgement, joined, flags);
    const parts = clauses.map((clause, u) => {
      const [theme, share] = [places[u], clause.words.length / Math.max(nWords, 1)];
      const tone = given.gamma[theme] * evidence * tones[u];
      const speaking = given.beta[theme] * share * evidence;
      const added = wordTones[u].map((value) => given.gamma[theme] * evidence * value);
      const kind = kindOf(judged[u].whole, judged[u].own, tones[u]);
      return { ...clause, theme, share, kind, judgement: judged[u].whole, tone, speaking, contribution: tone + speaking, added };
    });
    const byPlace = (values) => range(K + 2).map((k) => sum(values.filter((_, u) => places[u] === k)));
    const shares = byPlace(parts.map(({ share }) => share));
    if (nWords === 0) shares[K + 1] = 1;
    const tone = byPlace(parts.map((part) => part.tone));
    const contributions = range(K + 2).map((k) => tone[k] + given.beta[k] * shares[k] * evidence);
    const baseline = given.average + evidence * (given.constant - given.average);
    const eta = baseline + sum(contributions);
    const slope = slopeOf(family, baseline, eta, Math.max(given.same, given.rounded * Math.abs(baseline)));
    return {
      eta,
      mean: family.mean(eta),
      interval: family.interval?.(eta) ?? null,
      probabilities: family.probabilities?.(eta) ?? null,
      shares,
      evidence,
      unknown: found.length === 0 && !themed.some(({ hasTerms }) => hasTerms),
      contributions,
      baseline,
      baselineMean: family.mean(baseline),
      slope,
      terms: terms(parts),
      unknownWords: unknownWords(clauses, known),
      clauses: parts,
    };
  }

  const shown = ({ name, negated: under }) => (under ? given.not + name : name);

  // Contribution of each word of the text; a negated word is a separate word.
  function terms(clauses) {
    const found = new Map();
    for (const { words, added } of clauses) {
      words.forEach((word, i) => found.set(shown(word), (found.get(shown(word)) ?? 0) + added[i]));
    }
    return [...found].map(([term, contribution]) => ({ term, contribution }));
  }

  function unknownWords(clauses, known) {
    const unknown = clauses.flatMap(({ words }, u) => words.filter(({ name }, i) => !known[u][i] && !toneless.has(name)));
    return [...new Set(unknown.map(shown))];
  }

  // The text in pieces, each with the clause that it stands in; what a word adds is marked where it stands.
  function marked(string, { clauses }) {
    const cleaned = withoutMarkup(string);
    let from = 0;
    const found = clauses.flatMap(({ end, words, added }, clause) => {
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
      return parts.map((piece) => ({ ...piece, clause }));
    });
    if (from < cleaned.read.length || clauses.length === 0) {
      found.push(...pieces(string, cleaned, from).map((piece) => ({ ...piece, clause: null })));
    }
    return found;
  }

  const words = (text) => tokens(withoutMarkup(text).read);
  return { predict, words, marked, shown, family };
}
