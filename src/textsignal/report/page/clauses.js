// Where clauses start inside sentences, and how they are joined: a translation of textsignal.text.scanning.
// A word is {name, paused, kind, ...}; kinds are bits, as textsignal.text.clauses has them.
"use strict";

function clauseCutter(given) {
  const { contrast, joining, subject, verb, opinion, naming, excepting, negating } = given.clauses.kinds;
  const { apart, joined: joinedOn, contrasted } = given.clauses.joined;
  const { listsOpinions } = given.clauses;

  // True if a subject with a verb starts at word `p`: both within a few words, before a pause or a joining word.
  function startsClause(words, p, end) {
    if (!(words[p].kind & subject)) return false;
    for (let q = p; q < Math.min(p + 6, end); q += 1) {
      if (q > p && (words[q].paused || words[q].kind & (joining | contrast))) return false;
      if (words[q].kind & verb) return true;
    }
    return false;
  }

  // True if the words from `p` up to a pause or a joining word name a thing and judge it, without a verb.
  function judgesThing(words, p, end) {
    let seen = 0;
    for (let q = p; q < Math.min(p + 5, end); q += 1) {
      const { kind } = words[q];
      if (q > p && (words[q].paused || kind & joining)) break;
      if (kind & verb) return false;
      seen |= kind;
    }
    return (seen & opinion) > 0 && (seen & naming) > 0;
  }

  // Numbers of the words inside a sentence where a new judgement starts.
  function cutClauses({ words, isWhole }) {
    const starts = [];
    if (isWhole) return starts;
    const end = words.length;
    let [seen, since, held, described] = [0, 0, false, false];
    for (let p = 0; p < end; p += 1) {
      const { kind, paused } = words[p];
      let cut = false;
      if (p - since >= 2 && p + 1 < end) {
        const follows = !words[p + 1].paused;
        const judged = (seen & opinion) > 0 && (seen & naming) > 0;
        const last = words[p - 1].kind;
        const follower = kind & joining && follows ? words[p + 1].kind : kind;
        const listed = (last & opinion) > 0 && (follower & opinion) > 0 && !(seen & verb);
        const judges = !listsOpinions || (seen & (opinion | negating)) > 0;
        if (kind & contrast) {
          cut = judges || (follows && (seen & verb) > 0 && startsClause(words, p + 1, end));
          cut = cut && (paused || !(held || last & verb || (described && last & opinion)));
        } else if (kind & joining && p + 2 < end) {
          cut = follows && ((seen & verb) > 0 || judged) && startsClause(words, p + 1, end);
          cut = cut || (follows && judged && !listed && judgesThing(words, p + 1, end));
        } else if (paused) {
          cut = (judges || (seen & contrast) > 0) && startsClause(words, p, end);
          cut = cut || (judged && !listed && judgesThing(words, p, end));
        }
      }
      if (cut) {
        starts.push(p);
        [seen, since] = [0, p];
      }
      seen |= kind;
      held = (kind & excepting) > 0;
      described = (described || (kind & subject) > 0) && !(kind & verb);
    }
    return starts;
  }

  // Clauses of a sentence that is cut at these words, with start and end in the text.
  function splitSpans({ start, end, words }, starts, sentence) {
    const edges = [0, ...starts, words.length];
    return range(edges.length - 1).map((i) => ({
      sentence,
      start: i > 0 ? start + words[edges[i]].start : start,
      end: i + 2 < edges.length ? start + words[edges[i + 1] - 1].end : end,
      words: words.slice(edges[i], edges[i + 1]),
    }));
  }

  // How each clause is joined to the one before.
  function joinClauses(clauses) {
    let opened = false;
    return clauses.map((clause, u) => {
      const contrasts = clause.words.length > 0 && (clause.words[0].kind & contrast) > 0;
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
