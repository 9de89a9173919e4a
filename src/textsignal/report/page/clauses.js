// Where clauses start inside sentences, and how they are joined: a translation of textsignal.text.scanning.
// A word is {name, paused, kind, alone, broken, ...}: kind of the word, and of a letter that stands alone before it; bits as
// textsignal.text.clauses has them; broken: the pause before it, if it is a semicolon or a dash.
"use strict";

function clauseCutter(given) {
  const { contrast, joining, subject, verb, opinion, naming, excepting, negating } = given.clauses.kinds;
  const { apart, joined: joinedOn, contrasted } = given.clauses.joined;
  const { listsOpinions } = given.clauses;
  const { semicolon, dash } = given.sentences.breaks;

  // True if a subject with a verb starts at word `p`: both within a few words, before a pause or a joining word.
  function startsClause(words, p, subjects) {
    if (!((words[p].kind | words[p].alone) & subjects)) return false;
    for (let q = p; q < Math.min(p + 6, words.length); q += 1) {
      const kind = words[q].kind | words[q].alone;
      if (q > p && (words[q].paused || kind & (joining | contrast))) return false;
      if (kind & verb) return true;
    }
    return false;
  }

  // True if the words from `p` up to a pause or a joining word name a thing and judge it, without a verb.
  function judgesThing(words, p) {
    let seen = 0;
    for (let q = p; q < Math.min(p + 5, words.length); q += 1) {
      const kind = words[q].kind | words[q].alone;
      if (q > p && (words[q].paused || kind & joining)) break;
      if (kind & verb) return false;
      seen |= words[q].kind;
    }
    return (seen & opinion) > 0 && (seen & naming) > 0;
  }

  // True if a new judgement starts at word `p` of a clause, by what the clause holds up to there.
  function cuts(words, p, { seen, held, described }) {
    const { kind, paused, alone, broken } = words[p];
    const byLetter = (alone & (contrast | joining)) > 0;
    const [joint, after] = byLetter ? [alone, p] : [kind, p + 1];
    const [follows, dashed] = [byLetter || !words[p + 1].paused, (broken & dash) > 0];
    const [spoken, judged] = [(seen & verb) > 0, (seen & opinion) > 0 && (seen & naming) > 0];
    const last = words[p - 1].kind;
    const follower = kind & joining && !words[p + 1].paused ? words[p + 1].kind : kind;
    const listed = (last & opinion) > 0 && (follower & opinion) > 0 && !spoken;
    const judges = !listsOpinions || (seen & (opinion | negating)) > 0;
    if (broken & semicolon) return true;
    if (joint & contrast) {
      const cut = judges || dashed || (follows && spoken && startsClause(words, after, subject));
      return cut && (paused || !(held || last & verb || (described && last & opinion)));
    }
    if (joint & joining && after + 1 < words.length) {
      const cut = (spoken || judged || paused) && startsClause(words, after, subject);
      return follows && (cut || (judged && !listed && judgesThing(words, after)));
    }
    if (!paused) return false;
    const ready = judges || dashed || spoken || (seen & contrast) > 0;
    if (ready && startsClause(words, p, spoken ? subject | naming : subject)) return true;
    if (((judged && !listed) || dashed) && judgesThing(words, p)) return true;
    if ((spoken || judged) && kind & (verb | negating)) return true;
    return dashed && (kind & opinion) > 0 && startsClause(words, p + 1, subject);
  }

  // Numbers of the words inside a sentence where a new judgement starts.
  function cutClauses({ words, isWhole }) {
    const starts = [];
    if (isWhole) return starts;
    let [seen, since, held, described] = [0, 0, false, false];
    words.forEach(({ kind, alone }, p) => {
      if (p - since >= 2 && p + 1 < words.length && cuts(words, p, { seen, held, described })) {
        starts.push(p);
        [seen, since] = [0, p];
      }
      seen |= kind | alone;
      held = (kind & excepting) > 0;
      described = (described || ((kind | alone) & subject) > 0) && !((kind | alone) & verb);
    });
    return starts;
  }

  // Clauses of a sentence that is cut at these words, with start and end in the text.
  function splitSpans({ start, end, words }, starts, sentence) {
    const edges = [0, ...starts, words.length];
    return range(edges.length - 1).map((i) => ({
      sentence,
      start: i > 0 ? start + words[edges[i]].start : start,
      end: i + 2 < edges.length ? start + words[edges[i + 1]].before : end,
      words: words.slice(edges[i], edges[i + 1]),
    }));
  }

  // How each clause is joined to the one before.
  function joinClauses(clauses) {
    let opened = false;
    return clauses.map((clause, u) => {
      const [first] = clause.words;
      const contrasts = first !== undefined && ((first.kind | first.alone) & contrast) > 0;
      if (u === 0 || clause.sentence !== clauses[u - 1].sentence) {
        opened = contrasts;
        return { ...clause, joined: apart };
      }
      const joined = contrasts || opened ? contrasted : joinedOn;
      opened = false;
      return { ...clause, joined };
    });
  }

  return { cutClauses, splitSpans, joinClauses };
}
