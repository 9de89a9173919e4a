// Clauses of a text, and which of their words stand under a negation.
// Names follow textsignal.text.sentences, textsignal.text.tokens and textsignal.text.tokenise.
"use strict";

// kindOf : kind of a word of the model, undefined for any other.
function sentenceReader(given, normalise, kindOf) {
  const rules = given.sentences;
  const pattern = (source, flags = "gu") => new RegExp(source, flags);
  const [end, lastWord, word] = [pattern(rules.end), pattern(rules.lastWord, "u"), pattern(rules.word)];
  const [pause, wordOrPause] = [pattern(rules.pause), pattern(rules.wordOrPause)];
  const [leading, trailing] = [pattern(`^[${rules.space}]+`, "u"), pattern(`[${rules.space}]+$`, "u")];
  const [titles, shortForms, pauses] = [rules.titles, rules.shortForms, rules.pauses].map((list) => new Set(list));
  const breaks = new Map(Object.entries(rules.breaking).flatMap(([kind, signs]) => signs.map((sign) => [sign, rules.breaks[kind]])));
  const letters = new Map(Object.entries(given.clauses.letters));
  const [isLetter, toLastLetter] = [pattern(`^${rules.letter}$`, "u"), pattern(`^.*${rules.letter}`, "su")];
  const negations = new Set(given.negations.words);
  const functionWords = new Set(given.functionWords);
  const held = pattern(rules.held, "u");
  const [startsWithDigit, isDigits] = [pattern(`^[${rules.digit}]`, "u"), pattern(`^[${rules.digit}]+$`, "u")];
  const spaces = pattern(`[${rules.space}]`);
  const [isSpace, isPause] = [pattern(`^[${rules.space}]$`, "u"), pattern(`^(?:${rules.pauseMarks})$`, "u")];
  const telling = pattern(rules.telling, "u");
  const { cutClauses, splitSpans, joinClauses } = clauseCutter(given);

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
    if (titles.has(name)) return name !== "no" || startsWithDigit.test(following);
    if (shortForms.has(name)) return !/^\p{Uppercase}/u.test(following);
    const before = text.slice(start, from + last.index);
    const isInitial = /^\p{L}$/u.test(name) && /^\p{Uppercase}$/u.test(last[0]);
    const isNumber = isDigits.test(name) && codes(before).length < 4 && /^[ \t([\-*•]*$/u.test(before);
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

  // As textsignal.text.clauses.clause_kinds.
  function clauseKind(name) {
    const { kinds, unlisted } = given.clauses;
    if (unlisted === null) return 0; // a language without lists
    const isShort = name.includes("n't") || name.endsWith("nt");
    return kindOf(name) ?? (negates(name) ? kinds.negating | (isShort ? kinds.verb : 0) : unlisted);
  }

  // Where each unit of a normalised sentence comes from, as `_normalised` and `read_words` have it; null if unknown.
  // isOdd: a character of the text depends on its neighbours.
  function sources(sentence, plain, isOdd) {
    const [starts, ends] = [[], []];
    let [from, position] = [0, 0];
    const letters = codes(sentence);
    letters.forEach((letter, i) => {
      position += letter.length;
      if (isOdd && i + 1 < letters.length && joinsBefore(letters[i + 1])) return;
      for (let unit = normalise(sentence.slice(from, position)).length; unit > 0; unit -= 1) {
        starts.push(from);
        ends.push(position);
      }
      from = position;
    });
    return starts.length === plain.length ? { starts, ends } : null;
  }

  const joinsBefore = (letter) => !/^[\0-\x7f]/.test(letter) && (/^[\p{M}\u1160-\u11ff]/u.test(letter.normalize("NFKD")) || normalise(letter) === "");

  // True if the normalised form of a character of the text depends on its neighbours: as `_normal` of textsignal.text.tokens.
  function dependsOnOthers(letter) {
    const plain = normalise(letter);
    if (plain === "" || isSpace.test(letter) || (plain.length === 1 && plain <= "\x7f")) return false;
    if (joinsBefore(letter) || letter.normalize("NFKC").includes("Σ")) return true;
    return codes(plain).length > 1 && !isPause.test(plain) && telling.test(plain);
  }
  const isOdd = (text) => codes(text).some(dependsOnOthers);

  // End of a clause whose last word ends `behind`, before one that begins: with letters and punctuation there.
  function clauseEnd(plain, behind, begin) {
    const last = behind + (toLastLetter.exec(plain.slice(behind, begin))?.[0].length ?? 0);
    const space = plain.indexOf(" ", last);
    return space < 0 || space > begin ? begin : space;
  }

  // Words of a sentence; paused: after a pause; alone: kind of a letter that stands alone before it; start, before: where a
  // clause that starts with it begins in the sentence, and where the clause before ends. A letter that stands alone is of
  // the clause before, unless it joins or a pause is before it. isWhole: these are unknown, so the sentence cannot be cut.
  function words(sentence, odd) {
    const plain = normalise(sentence.replace(spaces, " "));
    const of = sources(sentence, plain, odd);
    const found = [];
    let [paused, broken, single, behind] = [false, 0, [], 0];
    for (const { 0: name, index } of plain.matchAll(wordOrPause)) {
      if (pauses.has(name)) {
        [paused, single] = [true, []];
        broken |= breaks.get(name) ?? 0;
      } else if (isLetter.test(name)) {
        single.push({ name, index });
      } else if (name !== "\n") {
        const alone = letters.get(single.at(-1)?.name) ?? 0;
        const begin = (paused ? single[0] : alone ? single.at(-1) : undefined)?.index ?? index;
        const word = { name, paused, broken, alone, kind: clauseKind(name), negates: negates(name) };
        found.push(of === null ? word : { ...word, start: of.starts[begin], before: of.ends[clauseEnd(plain, behind, begin) - 1] });
        [paused, broken, single, behind] = [false, 0, [], index + name.length];
      }
    }
    return { words: found, isWhole: of === null };
  }

  // Words of a clause; under: follows a negation; negated: also not a function word.
  function markNegated(clause) {
    let left = 0;
    return clause.map((word) => {
      if (word.paused) left = 0;
      const marked = { ...word, under: left > 0, negated: left > 0 && !functionWords.has(word.name) };
      left = word.negates ? rules.scope : Math.max(0, left - 1);
      return marked;
    });
  }

  // Clauses of a text, with the start and end of each in it.
  function clauses(text) {
    const odd = isOdd(text);
    const sentences = spans(text).map(([start, end]) => ({ start, end, ...words(text.slice(start, end), odd) }));
    return joinClauses(sentences.flatMap((sentence, number) => splitSpans(sentence, cutClauses(sentence), number))).map(
      (clause) => ({ ...clause, words: markNegated(clause.words) }),
    );
  }

  return { clauses };
}
