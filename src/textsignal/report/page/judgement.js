// Places and kinds of clauses: a translation of textsignal.training.verdict and textsignal.training.judgement.
// Places K and K + 1 are the overall verdict, and unplaced.
"use strict";

function clauseJudge(given, K) {
  const { apart, contrasted } = given.clauses.joined;
  const { kinds, bias, named: leastNamed, clear, nearby } = given.verdict;
  const { judges, refers } = kinds;

  // Runs of clauses of one sentence: first of each, and the first after it.
  function sentences(joined) {
    const starts = joined.map((how, u) => (how === apart || u === 0 ? u : -1)).filter((u) => u >= 0);
    return starts.map((first, i) => [first, starts[i + 1] ?? joined.length]);
  }

  // The theme of the content terms of each clause, with part of the weight of the others in its sentence, -1 if there is
  // none; named: 2 if a term of the clause names a theme, 1 if one of its sentence does.
  // weights : of themes in each clause; names : whether one of its terms names a theme.
  function bestThemes(weights, names, joined) {
    const found = [];
    for (const [first, last] of sentences(joined)) {
      const inside = range(last - first).map((i) => first + i);
      const total = range(K).map((k) => inside.reduce((sum, u) => sum + weights[u][k], 0));
      const isNamed = inside.some((u) => names[u]);
      for (const u of inside) {
        const values = weights[u].map((own, k) => own + nearby * (total[k] - own));
        const most = Math.max(...values);
        found.push({ theme: most > 0 ? values.indexOf(most) : -1, named: names[u] ? 2 : isNamed ? 1 : 0 });
      }
    }
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
        if (score > (named === 2 ? leastNamed : 0) || (named < 2 && most > clear)) place = K;
        else if (named > 0) place = theme;
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

  // How much a text tells, from 0 to 1. squares : sum of squared judgements of its clauses.
  function evidenceOf(squares, nWords) {
    const { spread, telling, long } = given.judgement;
    if (spread === 0) return 1;
    const amount = squares / spread ** 2 + nWords / long;
    return amount ** 2 / (amount ** 2 + telling ** 4);
  }

  // 1 for a clause that raises the response, -1 for one that lowers it, 0 for a neutral one; own : by its words alone.
  function kindOf(judgement, own, tone) {
    const { zone, own: part } = given.judgement;
    const raises = judgement > zone.high && own > part * zone.high && tone > 0;
    return raises ? 1 : judgement < zone.low && own < part * zone.low && tone < 0 ? -1 : 0;
  }

  return { bestThemes, placeClauses, withNeighbours, evidenceOf, kindOf };
}
