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

  // The character that an entity such as &eacute; stands for. Only what looks like one gets here: no tag is parsed.
  // Control characters and others that are none stand for nothing, as in Python.
  const entities = document.createElement("textarea");
  function character(entity) {
    entities.innerHTML = entity;
    return entities.textContent.replace(/^[\u0001-\u0008\u000b\u000e-\u001f\u007f\p{NChar}]$/u, "");
  }
  const markup = given.markup.map(({ pattern, by }) => ({ pattern: new RegExp(pattern, "gi"), by }));

  // The text without markup, and where each of its characters stood: from starts[i] to ends[i].
  function withoutMarkup(text) {
    let [read, starts, ends] = [text, range(text.length), range(text.length).map((i) => i + 1)];
    for (const { pattern, by } of markup) {
      let [rest, last] = ["", 0];
      const [nextStarts, nextEnds] = [[], []];
      const add = (string, start, end) => {
        rest += string;
        for (let i = 0; i < string.length; i += 1) {
          nextStarts.push(start(i));
          nextEnds.push(end(i));
        }
      };
      const keep = (from, to) => add(read.slice(from, to), (i) => starts[from + i], (i) => ends[from + i]);
      for (const match of read.matchAll(pattern)) {
        const [from, to] = [match.index, match.index + match[0].length];
        const blank = by ?? character(match[0]);
        if (blank === match[0]) continue; // no entity after all
        keep(last, from);
        add(blank, () => starts[from], () => ends[to - 1]);
        last = to;
      }
      keep(last, read.length);
      [read, starts, ends] = [rest, nextStarts, nextEnds];
    }
    return { read, starts, ends };
  }

  const words = (text) => tokens(withoutMarkup(text).read);
  function tokens(text) {
    const replaced = given.tokenizer.replaced;
    const plain = text.replace(odd, (sign) => (Object.hasOwn(replaced, sign) ? replaced[sign] : ""));
    return plain.normalize("NFKC").toLowerCase().match(token) ?? [];
  }

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
    // What smoothing adds to every topic says nothing of the text.
    const explained = w.map((weight, k) => Math.max(weight * mass[k] - given.smoothing, 0));
    const total = explained.reduce((a, b) => a + b, 0);
    return {
      eta,
      mean: family.mean(eta),
      probabilities: family.probabilities(eta),
      weights: w,
      shares: explained.map((part) => (total > 0 ? part / total : 0)),
      unknown,
      contributions,
      beyond,
      baseline: eta - contributions.reduce((a, b) => a + b, beyond),
      terms: found,
    };
  }

  // The text in pieces, cut at spaces and at signs that are in no word. A term's contribution is spread evenly over its
  // occurrences, and over the words of each.
  function marked(string, terms) {
    const value = new Map(terms.map((term) => [term.term, term.contribution]));
    const between = /([\s!-&(-/:-@[-^`{-~“”…–—]+)/u;
    const { read, starts, ends } = withoutMarkup(string);
    const pieces = [];
    let [position, reached] = [0, 0];
    const plain = (end) => pieces.push({ text: string.slice(reached, end), read: "", contribution: 0, known: false });
    for (const piece of read.split(between).filter((part) => part !== "")) {
      const start = Math.max(starts[position], reached); // one entity may give several pieces
      const end = Math.max(ends[position + piece.length - 1], start);
      if (start > reached) plain(start);
      pieces.push({ text: string.slice(start, end), read: piece, contribution: 0, known: false });
      [position, reached] = [position + piece.length, end];
    }
    if (string.length > reached) plain(string.length);
    const placed = pieces.flatMap((piece) => tokens(piece.read).map((word) => ({ word, piece })));
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
    return pieces;
  }

  return { predict, words, marked, direct: wordEffects !== null };
}
