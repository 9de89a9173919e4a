// The fitted model in the browser: the same mathematics as Python's, in double precision.
// Names follow textsignal.text.tokenise, textsignal.text.vectorise and textsignal.kernels.reference.
"use strict";

function textsignalModel(given) {
  const decode = (base64) => {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    return new Float64Array(bytes.buffer);
  };
  const topics = decode(given.topics); // terms x topics
  const idf = given.idf === null ? null : decode(given.idf);
  const wordEffects = given.wordEffects === null ? null : decode(given.wordEffects);
  const K = given.effects.length;
  const column = new Map(given.terms.map((term, j) => [term, j]));
  const stop = new Set(given.stopWords);
  const token = new RegExp(given.tokenizer.token, "gu");
  const odd = new RegExp(given.tokenizer.odd, "gu");
  const range = (n) => Array.from({ length: n }, (_, k) => k);
  const mass = range(K).map((k) => {
    let sum = 0;
    for (let j = 0; j < given.terms.length; j += 1) sum += topics[j * K + k];
    return sum;
  });

  function words(text) {
    const replaced = given.tokenizer.replaced;
    const plain = text.replace(odd, (sign) => (Object.hasOwn(replaced, sign) ? replaced[sign] : ""));
    return plain.normalize("NFKC").toLowerCase().match(token) ?? [];
  }

  // Runs of neighbouring words that are no stop words.
  function terms(tokens) {
    const kept = tokens.filter((word) => !stop.has(word));
    const [shortest, longest] = given.ngrams;
    const found = [];
    for (let n = shortest; n <= longest; n += 1) {
      for (let i = 0; i + n <= kept.length; i += 1) found.push(kept.slice(i, i + n).join(" "));
    }
    return found;
  }

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

  // d_j = (wH)_j + epsilon at the row's terms.
  function reconstruct({ columns }, w) {
    return columns.map((j) => {
      let d = 0;
      for (let k = 0; k < K; k += 1) d += w[k] * topics[j * K + k];
      return d + given.epsilon;
    });
  }

  function pull(text, w) {
    const d = reconstruct(text, w);
    const sums = new Array(K).fill(0);
    text.columns.forEach((j, p) => {
      const ratio = text.values[p] / d[p];
      for (let k = 0; k < K; k += 1) sums[k] += ratio * topics[j * K + k];
    });
    return { d, sums };
  }

  function multiplicativeStep(text, w) {
    const { sums } = pull(text, w);
    let largest = 0;
    for (let k = 0; k < K; k += 1) {
      const upper = w[k] * sums[k] + given.smoothing;
      if (mass[k] > 0 && w[k] > 0) largest = Math.max(largest, upper / (w[k] * mass[k]));
      w[k] = mass[k] > 0 ? upper / mass[k] : 0;
    }
    return largest - 1;
  }

  function newtonStep(text, w) {
    const { d, sums } = pull(text, w);
    const A = range(K).map((k) =>
      range(K).map((l) => (k !== l ? 0 : mass[k] > 0 ? given.smoothing / (w[k] * w[k]) : 1)),
    );
    text.columns.forEach((j, p) => {
      const bend = text.values[p] / d[p] / d[p];
      for (let k = 0; k < K; k += 1) {
        for (let l = 0; l < K; l += 1) A[k][l] += bend * topics[j * K + k] * topics[j * K + l];
      }
    });
    const gradient = range(K).map((k) => (mass[k] > 0 ? mass[k] - sums[k] - given.smoothing / w[k] : 0));
    const direction = solve(A, gradient);
    let [longest, decrement, size, change] = [1, 0, 0, 0];
    for (let k = 0; k < K; k += 1) {
      decrement += gradient[k] * direction[k];
      size += mass[k] * w[k];
      change += mass[k] * direction[k];
      if (direction[k] > 0) longest = Math.min(longest, (given.mostOfTheWay * w[k]) / direction[k]);
    }
    for (let k = 0; k < K; k += 1) w[k] -= longest * direction[k];
    return decrement / 2 / (size - longest * change);
  }

  // A x = b for a positive definite A, by Cholesky.
  function solve(A, b) {
    const L = A.map((line) => line.slice());
    for (let i = 0; i < K; i += 1) {
      for (let j = 0; j <= i; j += 1) {
        let sum = L[i][j];
        for (let k = 0; k < j; k += 1) sum -= L[i][k] * L[j][k];
        L[i][j] = i === j ? Math.sqrt(sum) : sum / L[j][j];
      }
    }
    const x = b.slice();
    for (let i = 0; i < K; i += 1) {
      for (let k = 0; k < i; k += 1) x[i] -= L[i][k] * x[k];
      x[i] /= L[i][i];
    }
    for (let i = K - 1; i >= 0; i -= 1) {
      for (let k = i + 1; k < K; k += 1) x[i] -= L[k][i] * x[k];
      x[i] /= L[i][i];
    }
    return x;
  }

  function weights(text) {
    const known = text.columns.some((j) => range(K).some((k) => topics[j * K + k] > 0));
    if (!known) return { w: given.meanWeights.slice(), unknown: true };
    const total = text.values.reduce((sum, x) => sum + x, 0) + given.smoothing * K;
    const alive = mass.filter((m) => m > 0).length;
    const w = mass.map((m) => (m > 0 ? total / m / alive : 0));
    for (let step = 0; step < given.maxSteps; step += 1) {
      const newton = given.smoothing > 0 && step >= given.firstSteps;
      const gap = newton ? newtonStep(text, w) : multiplicativeStep(text, w);
      if (step > 0 && gap < given.tol) break;
    }
    return { w, unknown: false };
  }

  const families = {
    binomial: ({ n, lowest }) => ({
      mean: (eta) => lowest + n / (1 + Math.exp(-eta)),
      probabilities: (eta) => {
        const p = 1 / (1 + Math.exp(-eta));
        const q = 1 / (1 + Math.exp(eta));
        let choose = 1;
        return range(n + 1).map((y) => {
          if (y > 0) choose *= (n - y + 1) / y;
          return choose * p ** y * q ** (n - y);
        });
      },
    }),
  };
  const family = families[given.family.name](given.family);

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
    const weighed = w.map((weight, k) => weight * mass[k]);
    const total = weighed.reduce((a, b) => a + b, 0);
    return {
      eta,
      mean: family.mean(eta),
      probabilities: family.probabilities(eta),
      weights: w,
      shares: weighed.map((weight) => weight / total),
      unknown,
      contributions,
      beyond,
      baseline: eta - contributions.reduce((a, b) => a + b, beyond),
      terms: found,
    };
  }

  // The text in pieces, cut at spaces and at signs that are in no word; those that are part of known terms carry
  // their contribution.
  function marked(string, terms) {
    const value = new Map(terms.map((term) => [term.term, term.contribution]));
    const between = /([\s!-&(-/:-@[-^`{-~“”…–—]+)/u;
    const pieces = string.split(between).map((piece) => ({ text: piece, contribution: 0, known: false }));
    const placed = pieces.flatMap((piece) => words(piece.text).map((word) => ({ word, piece })));
    const kept = placed.filter(({ word }) => !stop.has(word));
    const [shortest, longest] = given.ngrams;
    for (let n = shortest; n <= longest; n += 1) {
      for (let i = 0; i + n <= kept.length; i += 1) {
        const run = kept.slice(i, i + n);
        const contribution = value.get(run.map(({ word }) => word).join(" "));
        if (contribution === undefined) continue;
        for (const { piece } of run) {
          piece.known = true;
          if (Math.abs(contribution) > Math.abs(piece.contribution)) piece.contribution = contribution;
        }
      }
    }
    return pieces;
  }

  return { predict, words, marked, direct: wordEffects !== null };
}
