// Topics on a matrix in the browser: the same mathematics as Python's, in double precision.
// Names follow textsignal.text.vectorise and textsignal.insight.explanation.
"use strict";

function topicsModel(given) {
  const { withoutMarkup, tokens, pieces } = textReader(given);
  const topics = decoded(given.topics); // terms x topics
  const idf = given.idf === null ? null : decoded(given.idf);
  const wordEffects = given.wordEffects === null ? null : decoded(given.wordEffects);
  const K = given.effects.length;
  const column = new Map(given.terms.map((term, j) => [term, j]));
  const stop = new Set(given.stopWords);
  const { weights, reconstruct, mass } = inference(given, topics, K);
  const family = responseFamilies[given.family.name](given.family);
  const words = (text) => tokens(withoutMarkup(text).read);

  // Runs of neighbours of every length that a term has.
  function runs(kept) {
    const [shortest, longest] = given.ngrams;
    const found = [];
    for (let n = shortest; n <= longest; n += 1) {
      for (let i = 0; i + n <= kept.length; i += 1) found.push(kept.slice(i, i + n));
    }
    return found;
  }
  const terms = (found) => runs(found.filter((word) => !stop.has(word))).map((run) => run.join(" "));

  // The text as inference takes it: columns and values.
  function row(text) {
    const counts = new Map();
    for (const term of terms(words(text))) {
      const j = column.get(term);
      if (j !== undefined) counts.set(j, (counts.get(j) ?? 0) + 1);
    }
    const columns = [...counts.keys()].sort((a, b) => a - b);
    let values = columns.map((j) => counts.get(j));
    const scaled = (norm) => (norm > 0 ? values.map((x) => x / norm) : values);
    const l1 = () => values.reduce((sum, x) => sum + x, 0);
    const l2 = () => Math.sqrt(values.reduce((sum, x) => sum + x * x, 0));
    if (idf !== null) values = scaled(l1()).map((x, p) => x * idf[columns[p]]);
    if (given.rowNorm !== null) values = scaled(given.rowNorm === "l1" ? l1() : l2());
    if (given.unitRows) values = scaled(l2());
    return { columns, values };
  }

  // Everything the model says of a text. Contributions, what single words add beyond them, and baseline add up to
  // eta; a topic's words share its contribution in proportion to w_k H_kj x_j / (wH)_j.
  function predict(string) {
    const text = row(string);
    const { w, unknown } = weights(text);
    const direct = text.columns.map((j, p) => (wordEffects === null ? 0 : text.values[p] * wordEffects[j]));
    const beyond = direct.reduce((a, b) => a + b, 0);
    const eta = w.reduce((sum, weight, k) => sum + weight * given.effects[k], given.intercept + beyond);
    const contributions = w.map((weight, k) => weight * (given.effects[k] - given.centre * mass[k]));
    const d = reconstruct(text, w);
    const shares = range(K).map((k) => {
      const parts = text.columns.map((j, p) => (w[k] * topics[j * K + k] * text.values[p]) / d[p]);
      const sum = parts.reduce((a, b) => a + b, 0);
      return parts.map((part) => (sum > 0 ? part / sum : 0));
    });
    const found = text.columns.map((j, p) => ({
      term: given.terms[j],
      contribution: direct[p] + (unknown ? 0 : contributions.reduce((sum, value, k) => sum + value * shares[k][p], 0)),
      direct: direct[p],
      byTopic: range(K).map((k) => (unknown ? 0 : contributions[k] * shares[k][p])),
    }));
    // What smoothing adds to every topic says nothing of the text.
    const explained = w.map((weight, k) => Math.max(weight * mass[k] - given.smoothing, 0));
    const total = explained.reduce((a, b) => a + b, 0);
    const baseline = eta - contributions.reduce((a, b) => a + b, beyond);
    return {
      eta,
      mean: family.mean(eta),
      interval: family.interval?.(eta) ?? null,
      probabilities: family.probabilities?.(eta) ?? null,
      weights: w,
      shares: explained.map((part) => (total > 0 ? part / total : 0)),
      unknown,
      contributions,
      beyond,
      baseline,
      baselineMean: family.mean(baseline),
      slope: slopeOf(family, baseline, eta, given.same),
      terms: found,
      sentences: null,
    };
  }

  // The text in pieces. A term's contribution is spread evenly over its occurrences, and over the words of each.
  function marked(string, { terms }) {
    const value = new Map(terms.map((term) => [term.term, term.contribution]));
    const found = pieces(string, withoutMarkup(string));
    const placed = found.flatMap((piece) => tokens(piece.read).map((word) => ({ word, piece })));
    const named = runs(placed.filter(({ word }) => !stop.has(word)))
      .map((run) => ({ term: run.map(({ word }) => word).join(" "), run }))
      .filter(({ term }) => value.has(term));
    const counts = new Map();
    for (const { term } of named) counts.set(term, (counts.get(term) ?? 0) + 1);
    for (const { term, run } of named) {
      for (const { piece } of run) {
        piece.known = true;
        piece.contribution += value.get(term) / (counts.get(term) * run.length);
      }
    }
    return found;
  }

  return { predict, words, marked, family, direct: wordEffects !== null };
}
