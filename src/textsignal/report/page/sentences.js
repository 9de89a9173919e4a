// Sentences of a text, and which of their words stand under a negation.
// Names follow textsignal.text.sentences, textsignal.text.tokens and textsignal.text.tokenise.
"use strict";

function sentenceReader(given, normalise) {
  const rules = given.sentences;
  const pattern = (source, flags = "gu") => new RegExp(source, flags);
  const [end, lastWord, word] = [pattern(rules.end), pattern(rules.lastWord, "u"), pattern(rules.word)];
  const [pause, wordOrPause] = [pattern(rules.pause), pattern(rules.wordOrPause)];
  const [leading, trailing] = [pattern(`^[${rules.space}]+`, "u"), pattern(`[${rules.space}]+$`, "u")];
  const [titles, shortForms, pauses] = [rules.titles, rules.shortForms, rules.pauses].map((list) => new Set(list));
  const negations = new Set(given.negations.words);
  const functionWords = new Set(given.functionWords);
  const held = pattern(rules.held, "u");

  // Python counts characters by their codes, and so do these.
  const codes = (text) => [...text];
  const back = (text, from, n) => from - codes(text.slice(Math.max(0, from - 2 * n), from)).slice(-n).join("").length;
  const nWords = (text) => text.match(word)?.length ?? 0;

  // True if a full stop belongs to an abbreviation, an initial or the number of a list item.
  function isShort(text, start, stop) {
    const from = Math.max(start, back(text, stop, 12));
    const last = lastWord.exec(text.slice(from, stop));
    if (last === null) return false;
    const name = last[0].toLowerCase();
    const following = codes(text.slice(stop + 1, stop + 17)).slice(0, 8).join("").replace(leading, "");
    if (titles.has(name)) return name !== "no" || /^\p{Nd}/u.test(following);
    if (shortForms.has(name)) return !/^\p{Uppercase}/u.test(following);
    const before = text.slice(start, from + last.index);
    const isInitial = /^\p{L}$/u.test(name) && /^\p{Uppercase}$/u.test(last[0]);
    const isNumber = /^\p{Nd}+$/u.test(name) && codes(before).length < 4 && /^[ \t([\-*•]*$/u.test(before);
    return isInitial || isNumber;
  }

  // True if a line break is inside a sentence: between lower-case letters, with no empty line.
  function isWrapped(text, start, stop) {
    if (text.slice(start, stop).split("\n").length !== 2 || !/^\p{Lowercase}/u.test(text.slice(stop, stop + 2))) return false;
    return /[\p{Lowercase},][ \t]*\r?$/u.test(text.slice(0, start));
  }

  function ends(text) {
    const found = [];
    let start = 0;
    for (const match of text.matchAll(end)) {
      const { stop, line, bullet } = match.groups;
      const last = match.index + match[0].length;
      if (stop !== undefined && match[0] === "." && isShort(text, start, match.index)) continue;
      if (line !== undefined && isWrapped(text, match.index, last)) continue;
      start = bullet === undefined ? last : match.index;
      found.push(start);
    }
    return [...found, text.length];
  }

  // Parts of a very long run, cut at its pauses.
  function parts(text, start, stop) {
    if (codes(text.slice(start, stop)).length <= 2 * rules.longest) return [[start, stop]];
    if (nWords(text.slice(start, stop)) <= rules.longest) return [[start, stop]];
    const found = [];
    let [first, last, count] = [start, start, 0];
    for (const match of text.slice(start, stop).matchAll(pause)) {
      const at = start + match.index;
      count += nWords(text.slice(last, at));
      last = at + match[0].length;
      if (count >= rules.part && last < stop) {
        found.push([first, first + text.slice(first, last).replace(trailing, "").length]);
        [first, count] = [last, 0];
      }
    }
    return [...found, [first, stop]];
  }

  // Start and end of every sentence that holds a word.
  function spans(text) {
    const found = [];
    let start = 0;
    for (const stop of ends(text)) {
      const part = text.slice(start, stop);
      if (held.test(part)) {
        const left = start + part.length - part.replace(leading, "").length;
        found.push(...parts(text, left, start + part.replace(trailing, "").length));
      }
      start = stop;
    }
    return found;
  }

  function negates(name) {
    if (given.negations.endings.some((part) => name.endsWith(part))) return true;
    if (given.negations.beginnings.some((part) => name.startsWith(part))) return true;
    return negations.has(name);
  }

  // Words of a sentence; under: follows a negation; negated: also not a function word.
  function words(sentence) {
    const found = [];
    let scope = 0;
    for (const name of normalise(sentence).match(wordOrPause) ?? []) {
      if (name === "\n") continue;
      if (pauses.has(name)) {
        scope = 0;
        continue;
      }
      found.push({ name, under: scope > 0, negated: scope > 0 && !functionWords.has(name) });
      scope = negates(name) ? rules.scope : Math.max(0, scope - 1);
    }
    return found;
  }

  return { spans, words };
}
