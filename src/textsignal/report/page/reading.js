// Reads a text in the page as Python does: markup, words, families of responses.
// Names follow textsignal.text.cleaning, textsignal.text.tokenise and textsignal.families.
"use strict";

const range = (n) => Array.from({ length: n }, (_, k) => k);

function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i += 1) bytes[i] = text.charCodeAt(i);
  return bytes;
}

function textReader(given) {
  const token = new RegExp(given.tokenizer.token, "gu");
  const odd = new RegExp(given.tokenizer.odd, "gu");

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

  function normalise(text) {
    const replaced = given.tokenizer.replaced;
    const plain = text.replace(odd, (sign) => (Object.hasOwn(replaced, sign) ? replaced[sign] : ""));
    return plain.normalize("NFKC").toLowerCase();
  }
  const tokens = (text) => normalise(text).match(token) ?? [];

  // Pieces of a text, cut at spaces and at signs that are in no word: where each stands in the text without markup.
  const cut = /([\s!-&(-/:-@[-^`{-~“”…–—]+)/u;
  function pieces(string, { read, starts, ends }, from = 0, to = read.length) {
    const found = [];
    let [position, reached] = [from, from > 0 ? ends[from - 1] : 0];
    const stop = to < read.length ? ends[to - 1] : string.length;
    const plain = (end) => found.push({ text: string.slice(reached, end), read: "", contribution: 0, known: false });
    for (const piece of read.slice(from, to).split(cut).filter((part) => part !== "")) {
      const start = Math.max(starts[position], reached); // one entity may give several pieces
      const end = Math.max(ends[position + piece.length - 1], start);
      if (start > reached) plain(start);
      found.push({ text: string.slice(start, end), read: piece, contribution: 0, known: false });
      [position, reached] = [position + piece.length, end];
    }
    if (stop > reached) plain(stop);
    return found;
  }

  return { withoutMarkup, normalise, tokens, pieces };
}

// Points of the response per unit of the linear predictor, along the line from the baseline to a text.
function slopeOf(family, baseline, eta, same) {
  const [low, high] = Math.abs(eta - baseline) < same ? [baseline - same, baseline + same] : [baseline, eta];
  return (family.mean(high) - family.mean(low)) / (high - low);
}
