// "Try a text": the prediction of a text that is typed.
"use strict";

// names : current name of each theme by number; draw : draws a chart of the page with other rows.
function tryTexts(model, page, names, draw) {
  const field = document.getElementById("try-text");
  const result = document.getElementById("try-result");
  const percent = (value, digits = 0) => `${(100 * value).toFixed(digits)}%`;
  const MOST_NAMED = 6; // words
  const HINT = document.getElementById("try-without").textContent;
  // Means in steps of the unit, as they are shown; a difference that is shown as more than nothing.
  const level = (mean) => (page.steps * mean).toFixed(page.digits);
  const isShown = (value) => 2 * Math.abs(value) >= 10 ** -page.digits;
  const say = (id, text) => (document.getElementById(id).textContent = text);
  const number = (value) => make("td", signed(value, page.digits), { class: "number" });
  const nameOf = (theme) => names.get(theme) ?? page.unplaced;
  // Points in steps of the unit, rounded so that they add up to what is shown of their sum.
  const shares = (points, total) => addingUp(points.map((value) => page.steps * value), total, page.digits);

  // Contributions of the words of clauses in points; a word that occurs more than once has one.
  function wordsOf(clauses, slope) {
    const found = new Map();
    for (const { words, added } of clauses) {
      words.forEach((word, i) => found.set(model.shown(word), (found.get(model.shown(word)) ?? 0) + added[i] * slope));
    }
    return [...found];
  }
  const listed = (parts) =>
    parts
      .filter(([, value]) => isShown(value))
      .sort(([, a], [, b]) => Math.abs(b) - Math.abs(a))
      .map(([name, value]) => `${name} (${signed(value, page.digits)})`);

  function clear() {
    result.hidden = true;
    const written = ["mean", "words", "marked", "unknown", "clauses", "all", "rows", "constant", "sum"];
    for (const name of written) document.getElementById(`try-${name}`).replaceChildren();
    draw("levels", null);
    draw("contributions", null);
  }

  // What all clauses, and all themes, add to the baseline, as it is shown.
  const difference = (found) => Number(level(found.mean)) - Number(level(found.baselineMean));

  // Clauses with their words: each row adds up, and so does the column.
  function showClauses(found, marked) {
    const points = shares(found.clauses.map(({ contribution }) => contribution * found.slope), difference(found));
    const rows = found.clauses.map((clause, u) => {
      const row = document.createElement("tr");
      const quoted = make("td", "", { dir: "auto" });
      const text = marked.filter((piece) => piece.clause === u).map((piece) => piece.text).join("").trim();
      const look = clause.kind === 0 ? "" : ` ${shade(page, points[u] / page.steps, page.better * clause.kind > 0)}`;
      const words = wordsOf([clause], found.slope);
      const parts = [...words, ["its theme", clause.speaking * found.slope]];
      const rounded = shares(parts.map(([, value]) => value), points[u]);
      const behind = listed(parts.map(([name], i) => [name, rounded[i]]));
      quoted.append(make("span", text, { class: `clause${look}` }), make("small", behind.join(", ")));
      row.append(quoted, make("td", nameOf(clause.theme)), make("td", page.kinds[1 + page.better * clause.kind]), number(points[u]));
      return row;
    });
    document.getElementById("try-clauses").replaceChildren(...rows);
    say("try-all", signed(difference(found), page.digits));
  }

  function showThemes(found) {
    const order = found.contributions
      .map((contribution, theme) => ({ theme, label: nameOf(theme), points: contribution * found.slope, share: found.shares[theme] }))
      .filter(({ theme, share }) => names.has(theme) || share > 0)
      .sort((a, b) => Math.abs(b.points) - Math.abs(a.points));
    const rounded = shares(order.map(({ points }) => points), difference(found));
    order.forEach((theme, i) => (theme.value = rounded[i]));
    const shown = order.filter(({ share, value }, i) => i === 0 || share >= 0.005 || isShown(value));
    const bars = shown.slice(0, 12).map((theme, place) => ({
      ...theme,
      place,
      words: `${signed(theme.value, page.digits)} ${page.unit}`,
      part: percent(theme.share),
    }));
    draw("contributions", bars);
    const rows = order.map(({ theme, label, share, value }) => {
      const row = document.createElement("tr");
      const name = make("th", `${label} `, { scope: "row" });
      const words = wordsOf(found.clauses.filter((clause) => clause.theme === theme), found.slope);
      const behind = words.map(([word, points]) => [word, page.steps * points]);
      name.append(make("small", listed(behind).slice(0, 5).join(", ")));
      row.append(name, make("td", percent(share), { class: "number" }), number(value));
      return row;
    });
    document.getElementById("try-rows").replaceChildren(...rows);
    say("try-constant", level(found.baselineMean));
    say("try-sum", level(found.mean));
  }

  // The text in pieces, the removed ones, and the prediction with all of them.
  let tried = { pieces: [], taken: new Set(), whole: null };
  const words = document.getElementById("try-marked");
  const left = ({ pieces, taken }) => pieces.filter((_, i) => !taken.has(i)).map(({ text }) => text).join("");

  function start(text) {
    const whole = model.predict(text);
    tried = { pieces: model.marked(text, whole), taken: new Set(), whole };
    if (text.trim() === "") clear();
    else show();
  }

  // Removed words, and the change without them.
  function showWithout(found) {
    const taken = [...tried.taken].sort((a, b) => a - b).map((i) => `“${tried.pieces[i].text}”`);
    const named = taken.length > MOST_NAMED ? `${taken.length} words` : taken.join(", ").replace(/, (?=[^,]*$)/u, " and ");
    const [now, before] = [level(found.mean), level(tried.whole.mean)];
    const sign = page.event === "" ? "" : "%";
    const instead = `${now}${sign} instead of ${before}${sign} (${signed(now - before, page.digits)} ${page.unit})`;
    say("try-without", taken.length > 0 ? `Without ${named}: ${instead}.` : HINT);
    document.getElementById("try-back").hidden = taken.length === 0;
  }

  // The whole text, every word with what it adds to what is left.
  function showWords(found, marked) {
    const focused = words.contains(document.activeElement) ? document.activeElement.dataset.piece : null;
    const stop = focused ?? words.querySelector("[tabindex='0']")?.dataset.piece;
    const starts = new Map();
    marked.reduce((at, piece) => (starts.set(at, piece), at + piece.text.length), 0);
    let at = 0;
    const parts = tried.pieces.map((piece, i) => {
      const isTaken = tried.taken.has(i);
      const here = starts.get(at);
      if (!isTaken) at += piece.text.length;
      if (!piece.known || piece.text === "") return document.createTextNode(piece.text);
      const points = here?.text === piece.text ? here.contribution * found.slope : 0;
      const look = isTaken ? "taken" : shade(page, points);
      const title = isTaken ? "removed" : `${inSteps(page, points, 1)} ${page.unit}`;
      return make("mark", piece.text, { class: look, title, role: "button", "aria-pressed": isTaken, "data-piece": i, tabindex: -1 });
    });
    words.replaceChildren(...parts);
    const reached = words.querySelector(`[data-piece="${stop}"]`) ?? words.querySelector("mark");
    reached?.setAttribute("tabindex", 0);
    if (focused !== null) reached?.focus({ preventScroll: true });
  }

  // Probability of every level, or of every bin.
  function chances({ probabilities, eta }) {
    if (probabilities !== null) return probabilities;
    const { edges, whole } = page.bins;
    const below = edges.slice(1, -1).map((edge) => model.family.cdf(eta, whole ? edge - 1 : edge));
    return [...below, 1].map((up, i) => up - (i > 0 ? below[i - 1] : 0));
  }

  // Levels as people know them; a bin for each, where there are few.
  function levelNames() {
    return page.levels.length > page.bins.labels.length ? page.levels.map(String) : page.bins.labels;
  }

  // The first level on the better side of the scale's middle.
  const levels = page.better > 0 ? page.levels : [...page.levels].reverse();
  const passing = levels.find((one) => page.better * (2 * one - levels[0] - levels.at(-1)) > 0);

  // Explanation of the number above, with an interval or a probability.
  function inWords({ probabilities, interval }) {
    if (interval !== null) {
      const [low, high] = interval.map((end) => (page.bins.whole ? String(end) : end.toFixed(2)));
      return `Expected ${page.response}. 90% interval: ${low} to ${high}.`;
    }
    const names = levelNames();
    const likely = names[probabilities.indexOf(Math.max(...probabilities))];
    const [low, high] = [names[0], names.at(-1)];
    if (page.isClass) return `Probability of ${page.noted} against all other classes, by its own model.`;
    if (page.event !== "") return `Probability of ${page.response} ${page.event} rather than ${low}.`;
    const scaled = `Expected ${page.response}, on a scale from ${low} to ${high}. Most likely: ${likely}.`;
    if (levels.length < 3) return scaled;
    const passed = page.levels.map((one) => page.better * (one - passing) >= 0);
    const chance = probabilities.filter((_, i) => passed[i]).reduce((sum, one) => sum + one, 0);
    return `${scaled} Probability of ${names[page.levels.indexOf(passing)]} or better: ${percent(chance)}.`;
  }

  function show() {
    const text = left(tried);
    const found = tried.taken.size > 0 ? model.predict(text) : tried.whole;
    say("try-mean", page.event === "" ? found.mean.toFixed(2) : percent(found.mean));
    say(
      "try-words",
      found.unknown
        ? "The model knows no term of this text, so this is its prediction for an average text."
        : inWords(found),
    );
    const unknown = found.unknownWords;
    say("try-unknown", unknown.length > 0 ? ` Words the model does not know: ${unknown.join(", ")}.` : "");
    const labels = levelNames();
    const levels = chances(found).map((value, i) => ({ label: labels[i], value, words: percent(value, 1), place: i }));
    draw("levels", levels);
    showThemes(found);
    const marked = model.marked(text, found);
    showClauses(found, marked);
    showWords(found, marked);
    showWithout(found);
    result.hidden = false;
  }

  // Remove a word, or put it back.
  function toggle(event) {
    const word = event.target.closest("[data-piece]");
    if (word === null) return;
    event.preventDefault();
    const i = Number(word.dataset.piece);
    if (!tried.taken.delete(i)) tried.taken.add(i);
    show();
  }
  words.addEventListener("click", toggle);
  words.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") toggle(event);
    else arrows(event, words, "[data-piece]");
  });
  document.getElementById("try-back").addEventListener("click", () => {
    tried.taken.clear();
    show();
    words.querySelector("[tabindex='0']")?.focus({ preventScroll: true });
  });

  let waiting = 0;
  field.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => start(field.value), 150);
  });
  for (const button of document.querySelectorAll("button[data-example]")) {
    button.addEventListener("click", () => {
      field.value = page.examples[Number(button.dataset.example)];
      start(field.value);
    });
  }
  if (field.value !== "") start(field.value); // typed before the model was here
  return { again: () => (result.hidden ? null : show()) };
}
