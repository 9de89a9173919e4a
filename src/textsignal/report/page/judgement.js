// Places and kinds of clauses: a translation of textsignal.training.places and textsignal.training.judgement.
// Places K and K + 1 are the overall verdict, and unplaced.
"use strict";

function clauseJudge(given, K) {
  const { apart, contrasted } = given.clauses.joined;
  const { kinds, bias, named: leastNamed, sure } = given.verdict;
  const { judges, refers } = kinds;

  // Runs of clauses of one sentence: first of each, and the first after it.
  function sentences(joined) {
    const starts = joined.map((how, u) => (how === apart || u === 0 ? u : -1)).filter((u) => u >= 0);
    return starts.map((first, i) => [first, starts[i + 1] ?? joined.length]);
  }

  // The theme with clear votes of each clause, -1 if there is none; named: 2 if a term of the clause names a theme, 1 if
  // one of its sentence does. clauses : votes for themes, of which one of its terms is typical, and whether one names a
  // theme.
  function bestThemes(clauses, joined) {
    const { sentence, next, clear } = given.votes;
    const [votes, names] = [clauses.map((clause) => clause.votes), clauses.map((clause) => clause.names)];
    const found = [];
    const none = new Array(K).fill(0);
    const parts = sentences(joined);
    const sums = parts.map(([first, last]) => none.map((_, k) => votes.slice(first, last).reduce((a, own) => a + own[k], 0)));
    parts.forEach(([first, last], s) => {
      const [before, after] = [sums[s - 1] ?? none, sums[s + 1] ?? none];
      const isNamed = names.slice(first, last).some((each) => each);
      for (let u = first; u < last; u += 1) {
        const values = votes[u].map((own, k) => own + (sentence * (sums[s][k] - own) + next * (before[k] + after[k])));
        const [most, total] = [Math.max(...values), values.reduce((a, b) => a + b, 0)];
        const theme = values.indexOf(most);
        const isClear = most > 0 && most >= clear[clauses[u].typical[theme] ? 1 : 0] * (total + 1);
        found.push({ theme: isClear ? theme : -1, named: names[u] ? 2 : isNamed ? 1 : 0 });
      }
    });
    return found;
  }

  // The theme of each clause. best : from `bestThemes`; ofWord : score of a word in verdicts, and its kinds.
  function placeClauses(clauses, best, ofWord) {
    let before = -1;
    return clauses.map(({ words, joined }, u) => {
      let [score, kind, most] = [bias, 0, 0];
      for (const { name } of words) {
        const word = ofWord(name);
        score += word.score;
        most = Math.max(most, word.score);
        kind |= word.kind & judges;
      }
      const refersBack = words.length > 0 && (ofWord(words[0].name).kind & refers) > 0;
      const inherits = before >= 0 && before < K && (joined !== apart || refersBack);
      const { theme, named } = best[u];
      let place = K + 1;
      if (words.length > 0) {
        if (score > (named === 2 ? leastNamed : 0) || (named < 2 && most > sure)) place = K;
        else if (named > 0) place = theme >= 0 ? theme : K + 1;
        else if (inherits) place = before;
        else if (kind & judges) place = K;
      }
      before = place;
      return place;
    });
  }

  // Judgement of each clause, with part of that of the others in its sentence, less of those in contrast to it.
  function withNeighbours(judgement, joined) {
    const { shared, opposed, near } = given.judgement;
    const capped = judgement.map((own) => Math.min(Math.max(own, -near), near));
    const found = judgement.slice();
    for (const [first, last] of sentences(joined)) {
      const total = capped.slice(first, last).reduce((sum, own) => sum + own, 0);
      let begin = first;
      while (begin < last) {
        let [end, side] = [begin, 0];
        while (end < last && (end === begin || joined[end] !== contrasted)) {
          side += capped[end];
          end += 1;
        }
        for (let u = begin; u < end; u += 1) found[u] += shared * (side - capped[u]) + opposed * (total - side);
        begin = end;
      }
    }
    return found;
  }

  // Judgement of each clause in its text (whole) and by its own words alone, both over what it takes.
  function inText(judgement, joined, flags) {
    const { mood: part, near, parts, story, flags: known } = given.judgement;
    const shared = withNeighbours(judgement, joined);
    const runs = sentences(joined);
    const total = judgement.reduce((a, b) => a + b, 0);
    const found = [];
    for (const [first, last] of runs) {
      const own = judgement.slice(first, last).reduce((a, b) => a + b, 0);
      const others = judgement.length - (last - first);
      const mood = others > 0 ? Math.min(Math.max((total - own) / others, -near), near) : 0;
      for (let u = first; u < last; u += 1) {
        const value = shared[u] + part * mood;
        const side = value < 0 ? 0 : 1;
        let takes = 1 + story[side] * (1 - 1 / runs.length);
        if (flags[u] & known[side]) takes *= parts[side];
        found.push({ whole: value / takes, own: judgement[u] / takes });
      }
    }
    return found;
  }

  // How much a text tells, from 0 to 1. squares : sum of squared judgements of its clauses.
  function evidenceOf(squares, nWords) {
    const { spread, telling, long } = given.judgement;
    if (spread === 0) return 1;
    const amount = squares / spread ** 2 + nWords / long;
    return amount ** 2 / (amount ** 2 + telling ** 4);
  }

  // 1 for a clause that raises the response, -1 for one that lowers it, 0 for a neutral one; own : by its words alone.
  function kindOf(judgement, own, tone) {
    const { zone, own: part, least } = given.judgement;
    const raises = judgement > zone.high && own > part * zone.high && tone > least[1];
    return raises ? 1 : judgement < zone.low && own < part * zone.low && tone < -least[0] ? -1 : 0;
  }

  return { bestThemes, placeClauses, inText, evidenceOf, kindOf };
}
