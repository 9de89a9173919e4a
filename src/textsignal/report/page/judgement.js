// Places and kinds of clauses: a translation of textsignal.training.verdict and textsignal.training.judgement.
// Places K and K + 1 are the overall verdict, and unplaced.
"use strict";

function clauseJudge(given, K) {
  const { apart, contrasted } = given.clauses.joined;
  const { judges, refers } = given.verdict.kinds;

  // The theme of each clause. best : for each the theme of its content terms, -1 if there is none, and whether one names
  // a theme. ofWord : score of a word in verdicts, and its kinds.
  function placeClauses(clauses, best, ofWord) {
    let before = -1;
    return clauses.map(({ words, joined }, u) => {
      let [score, kind] = [given.verdict.bias, 0];
      for (const { name } of words) {
        const word = ofWord(name);
        score += word.score;
        kind |= word.kind & judges;
      }
      const refersBack = words.length > 0 && (ofWord(words[0].name).kind & refers) > 0;
      const inherits = before >= 0 && before < K && (joined > 0 || refersBack);
      let place = K + 1;
      if (words.length > 0) {
        if (score > 0) place = K;
        else if (best[u].names) place = best[u].theme;
        else if (inherits) place = before;
        else if (kind & judges) place = K;
        else if (best[u].theme >= 0) place = best[u].theme;
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
    let first = 0;
    while (first < judgement.length) {
      let [last, total] = [first, 0];
      while (last < judgement.length && (last === first || joined[last] !== apart)) {
        total += capped[last];
        last += 1;
      }
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
      first = last;
    }
    return found;
  }

  // How much a text tells, from 0 to 1.
  function evidenceOf(squares) {
    const { spread, telling } = given.judgement;
    return spread === 0 ? 1 : squares ** 2 / (squares ** 2 + (telling * spread) ** 4);
  }

  // 1 for a clause that raises the response, -1 for one that lowers it, 0 for a neutral one.
  function kindOf(judgement, tone) {
    const { low, high } = given.judgement.zone;
    return (judgement > high && tone > 0 ? 1 : 0) - (judgement < low && tone < 0 ? 1 : 0);
  }

  return { placeClauses, withNeighbours, evidenceOf, kindOf };
}
